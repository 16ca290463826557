// SPDX-License-Identifier: Apache-2.0
#include "serving/ignition_service.h"

#include <fmt/core.h>

#include <utility>

#include "base/clock.h"
#include "base/log.h"
#include "gotext/quote.h"
#include "serving/events.h"

namespace pintle::serving {
namespace {

net::HttpServerLimits LimitsOf(const IgnitionSettings& settings) {
  return {.connections_per_address = settings.connections_per_address, .rate = settings.rate};
}

// Logs a request for a config; other requests are not logged.
void LogRequest(const net::IncomingRequest& request, const IgnitionAnswer& answer) {
  if (!answer.pool) return;
  const auto quoted = [&](std::string_view header) { return gotext::Quoted(request.Find(header).value_or("")); };
  std::string text =
      fmt::format("Pool {} requested by address:{} User-Agent:{} Accept-Header: {}", gotext::Quoted(*answer.pool),
                  gotext::Quoted(request.peer), quoted("User-Agent"), quoted("Accept"));
  text += fmt::format(": {}", answer.http.status);
  if (answer.token != TokenProblem::kNone) text += fmt::format(", {}", ToText(answer.token));
  if (answer.failure) text += ", " + answer.failure->message();
  if (answer.http.status >= 500) return log::Warning(std::move(text), kNoConfigServed);
  log::Info(std::move(text));
}

}  // namespace

Result<std::unique_ptr<IgnitionService>> IgnitionService::Begin(event::Loop& loop, const IgnitionSettings& settings,
                                                                ServedPools pools, TlsFiles::Identity identity) {
  std::unique_ptr<IgnitionService> service(new IgnitionService);
  TRY(service->OpenAccess(loop, settings), "the Ignition server");
  service->Serve(std::move(pools));
  TRY(service->Open(loop, settings, std::move(identity)), "the Ignition server");
  return service;
}

Result<> IgnitionService::OpenAccess(event::Loop& loop, const IgnitionSettings& settings) {
  Access access = {.mode = settings.access};
  if (access.mode != AccessMode::kOpen) {
    keys_file_ = settings.token_keys_file;
    keys_watch_ = TRY(FileWatch::Begin(loop, {keys_file_}, [this] { ReadKeysAgain(); }));
    access.keys = TRY(ReadPrivateKeys(keys_file_));
  }
  access_ = std::make_shared<const Access>(std::move(access));
  return {};
}

Result<> IgnitionService::Open(event::Loop& loop, const IgnitionSettings& settings, TlsFiles::Identity identity) {
  if (settings.secure) TRY(OpenSecure(loop, settings, std::move(identity)));
  net::HttpServerSettings plain = {.listen = {}, .limits = LimitsOf(settings)};
  if (settings.plain) {
    plain.listen = *settings.plain;
    if (!net::IsLoopback(plain.listen)) {
      return Error(ErrorKind::kInvalid, fmt::format("{}: without TLS, configs are served at a loopback address only, "
                                                    "such as 127.0.0.1:{}",
                                                    net::ToText(plain.listen), plain.listen.port));
    }
    plain_ = TRY(net::HttpServer::Begin(plain, Handler()));
  }
  if (settings.health) {
    plain.listen = *settings.health;
    health_ = TRY(net::HttpServer::Begin(plain, HealthHandler()));
  }
  return {};
}

Result<> IgnitionService::OpenSecure(event::Loop& loop, const IgnitionSettings& settings, TlsFiles::Identity known) {
  secure_settings_ = {.listen = *settings.secure, .threads = settings.threads, .limits = LimitsOf(settings)};
  if (settings.certificate_from == CertificateFrom::kCaller) return known ? ListenWith(std::move(known)) : Result<>();
  certificate_ = TRY(TlsFiles::Open(
      loop, settings.certificate_file, settings.key_file, settings.tls, [this](Result<TlsFiles::Identity> identity) {
        if (!identity) {
          return log::Warning("The previous certificate stays in use: " + identity.error().message(),
                              kCertificateTrouble);
        }
        Renew(*std::move(identity));
      }));
  return ListenWith(certificate_->first_identity());
}

Result<> IgnitionService::ListenWith(TlsFiles::Identity identity) {
  net::HttpServerSettings settings = secure_settings_;
  settings.identity = std::move(identity);
  secure_ = TRY(net::HttpServer::Begin(settings, Handler()));
  return {};
}

void IgnitionService::Renew(TlsFiles::Identity identity) {
  secure_->SetIdentity(std::move(identity));
  log::Notice("The certificate was renewed; new connections get it", kCertificateRenewed);
}

Result<> IgnitionService::UseCertificate(TlsFiles::Identity identity) {
  if (secure_) {
    Renew(std::move(identity));
    return {};
  }
  TRY(ListenWith(std::move(identity)), "the Ignition server");
  log::Info("Serving Ignition at https://" + net::ToText(secure_->address()));
  return {};
}

void IgnitionService::Serve(ServedPools pools) {
  pools_ = std::move(pools);
  counters_ = std::make_shared<const IgnitionCounters>(pools_, counters_.get());
  ReplaceHandlers();
}

void IgnitionService::ReadFilesAgain() {
  if (certificate_) certificate_->ReadAgain();
  if (keys_watch_) ReadKeysAgain();
}

void IgnitionService::ReadKeysAgain() {
  auto keys = ReadPrivateKeys(keys_file_);
  if (!keys) return log::Warning("The previous keys stay in use: " + keys.error().message(), kTokenKeysTrouble);
  if (*keys == access_->keys) return;
  access_ = std::make_shared<const Access>(Access{.mode = access_->mode, .keys = *std::move(keys)});
  ReplaceHandlers();
  log::Notice("The keys of tokens were renewed", kTokenKeysRenewed);
}

void IgnitionService::ReplaceHandlers() {
  if (secure_) secure_->SetHandler(Handler());
  if (plain_) plain_->SetHandler(Handler());
  if (health_) health_->SetHandler(HealthHandler());
}

// The handler owns references to values that never change, so other threads can run it.
net::HttpHandler IgnitionService::Handler() const {
  return [pools = pools_, access = access_, counters = counters_](const net::IncomingRequest& request) {
    IgnitionAnswer answer = AnswerTo(request, pools, *access, SystemClock().Wall());
    counters->Count(answer);
    LogRequest(request, answer);
    return std::move(answer.http);
  };
}

net::HttpHandler IgnitionService::HealthHandler() const {
  return [pools = pools_](const net::IncomingRequest& request) { return AnswerHealth(request, pools); };
}

std::vector<std::string> IgnitionService::Addresses() const {
  std::vector<std::string> addresses;
  if (secure_) addresses.push_back("https://" + net::ToText(secure_->address()));
  if (plain_) addresses.push_back("http://" + net::ToText(plain_->address()));
  if (health_) addresses.push_back(fmt::format("http://{}/healthz", net::ToText(health_->address())));
  return addresses;
}

}  // namespace pintle::serving
