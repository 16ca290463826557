// SPDX-License-Identifier: Apache-2.0
#include "controller/webhook.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <memory>
#include <string_view>
#include <utility>

#include "base/digest.h"
#include "base/root.h"
#include "json/parse.h"
#include "net/hmac.h"
#include "net/local_address.h"
#include "serving/private_file.h"

namespace pintle::controller {
namespace {

using Outcome = NoticeQueue::Outcome;

constexpr auto kWebhookPatience = std::chrono::seconds(20);
constexpr std::size_t kShortestWebhookKey = 32;  // In bytes.
constexpr std::size_t kWebhookKeyLimit = 4096;   // The largest size of the file, in bytes.
// A receiver that answers with one of these statuses refuses the notice itself.  Any other failure may be temporary,
// such as 401 while the receiver does not have the new key yet.
constexpr auto kRefusals = std::to_array<int>({400, 413, 415, 422});

// Reads the key without newlines at the end: editors end a file with a newline, which is not a part of the key.
Result<std::string> ReadWebhookKey(const std::string& path) {
  if (serving::IsReadableByAll(path)) return serving::ReadableByAllError("the key for notices", path);
  const Root root = TRY(Root::Open("/"));
  std::string key = TRY(root.ReadFile(path, kWebhookKeyLimit), "reading the key for notices");
  while (key.ends_with('\n') || key.ends_with('\r')) key.pop_back();
  if (key.size() >= kShortestWebhookKey) return key;
  return Error(ErrorKind::kInvalid,
               fmt::format("the key for notices in {} has {} bytes and must have {} or more; `openssl rand -hex 32` "
                           "makes one",
                           path, key.size(), kShortestWebhookKey));
}

std::string_view RemedyForStatus(int status) {
  if (status >= 300 && status < 400) {
    return ", and redirects are not followed; give the address to which it redirects as --notify-url";
  }
  if (status == 401 || status == 403) return "; check that it has the key of --notify-key-file";
  if (status == 404 || status == 405) return "; check the path in --notify-url";
  return "";
}

}  // namespace

std::string CloudEventOf(const Notice& notice, const std::string& source) {
  json::Value event;
  event["specversion"] = "1.0";
  event["id"] = notice.id;
  event["source"] = source;
  event["type"] = notice.type;
  event["subject"] = notice.subject;
  if (notice.at) event["time"] = ToRfc3339(*notice.at);
  event["datacontenttype"] = "application/json";
  event["data"] = notice.data;
  return json::ToText(event);
}

std::string SignatureOf(std::string_view key, std::string_view body) {
  return "sha256=" + ToHex(net::HmacSha256(key, body));
}

Outcome JudgeAnswer(int status, const std::string& server) {
  if (status >= 200 && status < 300) return {.kind = Outcome::Kind::kTaken};
  const bool is_refused = std::find(kRefusals.begin(), kRefusals.end(), status) != kRefusals.end();
  return {.kind = is_refused ? Outcome::Kind::kRefused : Outcome::Kind::kFailed,
          .why = fmt::format("{} answers {}{}", server, status, RemedyForStatus(status))};
}

Webhook::Webhook(event::Loop& loop, WebhookSettings settings) : loop_(loop), settings_(std::move(settings)) {}

void Webhook::Send(const Notice& notice, std::function<void(Outcome outcome)> done) {
  const auto fail = [&](const Error& error) { done({.kind = Outcome::Kind::kFailed, .why = error.message()}); };
  auto request = RequestFor(notice);
  if (!request) return fail(request.error());
  if (const auto opened = OpenClient(); !opened) return fail(opened.error());
  // Only the status counts: if the rest of the answer is cut short, the receiver still has the notice.
  const auto status = std::make_shared<int>(0);
  call_ = client_->Start(*std::move(request),
                         {.head = [status](const net::HttpHead& head) { *status = head.status; },
                          .body = [](std::string_view) {},
                          .end =
                              [status, done = std::move(done), server = settings_.url.HostAndPort()](Result<> outcome) {
                                if (*status != 0) return done(JudgeAnswer(*status, server));
                                done({.kind = Outcome::Kind::kFailed,
                                      .why = outcome ? server + " does not answer" : outcome.error().message()});
                              }});
}

void Webhook::Cancel() { call_ = {}; }

Result<net::HttpRequest> Webhook::RequestFor(const Notice& notice) const {
  const std::string key = TRY(ReadWebhookKey(settings_.key_file));
  std::string body = CloudEventOf(notice, settings_.source);
  net::HttpRequest request{.method = "POST", .url = settings_.url};
  request.headers = {{"Content-Type", "application/cloudevents+json; charset=utf-8"},
                     {"X-Pintle-Signature", SignatureOf(key, body)}};
  request.body = std::move(body);
  request.timeouts = {.connect = kWebhookPatience, .stall = kWebhookPatience, .whole = kWebhookPatience};
  return request;
}

Result<> Webhook::OpenClient() {
  if (client_) return {};
  net::HttpClient::Settings settings;
  if (!settings_.authorities_file.empty()) settings.tls.authorities = net::PemFile{settings_.authorities_file};
  // No proxy is used for a local address: a proxy would connect to its own machine instead.
  if (net::IsLocalHost(settings_.url.host())) settings.proxy = {};
  client_.emplace(TRY(net::HttpClient::Create(loop_, std::move(settings))));
  return {};
}

}  // namespace pintle::controller
