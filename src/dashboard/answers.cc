// SPDX-License-Identifier: Apache-2.0
#include "dashboard/answers.h"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>

#include "base/ascii.h"
#include "base/hex_digit.h"
#include "dashboard/assets.h"

namespace pintle::dashboard {
namespace {

constexpr std::string_view kStreamPath = "/events";
constexpr const char* kContentSecurityPolicy =
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'none'";

net::HttpAnswer AnswerOf(int status, const char* type, std::string body) {
  return {.status = status,
          .headers = {{"Content-Type", type},
                      {"Content-Security-Policy", kContentSecurityPolicy},
                      {"X-Content-Type-Options", "nosniff"},
                      {"Referrer-Policy", "no-referrer"},
                      {"Cross-Origin-Resource-Policy", "same-origin"},
                      {"Cache-Control", "no-store"}},
          .body = std::make_shared<const std::string>(std::move(body))};
}

net::HttpAnswer ErrorOf(int status, std::string text) {
  return AnswerOf(status, "text/plain; charset=utf-8", std::move(text) + "\n");
}

// Returns whether the Host header names a loopback host.
bool NamesThisMachine(const net::IncomingRequest& request) {
  std::string_view host = request.Find("Host").value_or("");
  const std::size_t colon = host.rfind(':');
  if (colon != std::string_view::npos && host.find(']', colon) == std::string_view::npos) host = host.substr(0, colon);
  return SameIgnoringCase(host, "localhost") || host == "127.0.0.1" || host == "[::1]";
}

// Returns the value of a query's field, with its %-escapes decoded.  Returns "" if the query does not have the field.
std::string FieldOf(std::string_view query, std::string_view name) {
  while (!query.empty()) {
    const std::string_view field = query.substr(0, query.find('&'));
    query.remove_prefix(std::min(field.size() + 1, query.size()));
    if (!field.starts_with(name) || field.size() <= name.size() || field[name.size()] != '=') continue;
    std::string value;
    const std::string_view text = field.substr(name.size() + 1);
    for (std::size_t i = 0; i < text.size(); ++i) {
      const bool is_escape =
          text[i] == '%' && i + 2 < text.size() && HexDigit(text[i + 1]) >= 0 && HexDigit(text[i + 2]) >= 0;
      value += is_escape ? static_cast<char>(HexDigit(text[i + 1]) * 16 + HexDigit(text[i + 2])) : text[i];
      if (is_escape) i += 2;
    }
    return value;
  }
  return {};
}

std::string_view PathOf(const net::IncomingRequest& request) {
  return request.target.substr(0, request.target.find('?'));
}

std::string_view QueryOf(const net::IncomingRequest& request) {
  const std::size_t mark = request.target.find('?');
  return mark == std::string_view::npos ? std::string_view() : request.target.substr(mark + 1);
}

net::HttpAnswer StreamAnswer(Updates& updates, std::string_view query, const net::IncomingRequest& request) {
  net::HttpAnswer answer = AnswerOf(200, "text/event-stream", "");
  const auto last = request.Find("Last-Event-ID");
  answer.stream = updates.StreamFrom(last ? std::string(*last) : FieldOf(query, "from"));
  return answer;
}

}  // namespace

bool WantsStream(const net::IncomingRequest& request) { return PathOf(request) == kStreamPath; }

net::HttpAnswer AnswerFrom(const Contents& contents, std::string_view version, Updates& updates, Hosts hosts,
                           const net::IncomingRequest& request) {
  if (request.method != "GET" && request.method != "HEAD")
    return ErrorOf(405, "this page is read-only; use GET or HEAD");
  if (hosts == Hosts::kLoopback && !NamesThisMachine(request)) {
    return ErrorOf(421, "open this page by the name localhost, for instance through `kubectl port-forward`");
  }
  const std::string_view path = PathOf(request);
  const std::string_view query = QueryOf(request);
  if (path == "/") {
    updates.ExpectFollower();
    return AnswerOf(200, "text/html; charset=utf-8", DocumentOf(contents, version, FieldOf(query, "node")));
  }
  if (path == kStreamPath) return StreamAnswer(updates, query, request);
  if (path == "/style.css") return AnswerOf(200, "text/css; charset=utf-8", std::string(kStyle));
  if (path == "/script.js") return AnswerOf(200, "text/javascript; charset=utf-8", std::string(kScript));
  if (path == "/icon.svg") return AnswerOf(200, "image/svg+xml", std::string(kIcon));
  return ErrorOf(404, "there is no such page; the page is /");
}

}  // namespace pintle::dashboard
