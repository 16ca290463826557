// SPDX-License-Identifier: Apache-2.0
#include "net/http_client.h"

#include <utility>

#include "net/http_engine.h"
#include "net/http_exchange.h"

namespace pintle::net {

HttpCall::HttpCall(std::shared_ptr<Exchange> exchange) : exchange_(std::move(exchange)) {}
HttpCall::HttpCall(HttpCall&&) noexcept = default;

HttpCall& HttpCall::operator=(HttpCall&& other) noexcept {
  const HttpCall before(std::exchange(exchange_, std::move(other.exchange_)));
  return *this;
}

HttpCall::~HttpCall() {
  if (exchange_) exchange_->Cancel();
}

void HttpCall::Pause() {
  if (exchange_) exchange_->Pause();
}

void HttpCall::Resume() {
  if (exchange_) exchange_->Resume();
}

HttpClient::HttpClient(std::shared_ptr<HttpCall::Engine> engine) : engine_(std::move(engine)) {}
HttpClient::HttpClient(HttpClient&&) noexcept = default;

HttpClient& HttpClient::operator=(HttpClient&& other) noexcept {
  const HttpClient before(std::exchange(engine_, std::move(other.engine_)));
  return *this;
}

HttpClient::~HttpClient() {
  if (engine_) engine_->CancelAll();
}

Result<HttpClient> HttpClient::Create(event::Loop& loop, Settings settings) {
  const auto engine = std::make_shared<HttpCall::Engine>(loop, std::move(settings));
  TRY(engine->Open(), "starting the HTTP client");
  return HttpClient(engine);
}

HttpCall HttpClient::Start(HttpRequest request, HttpReceiver receiver) {
  const auto exchange = std::make_shared<HttpCall::Exchange>(engine_, std::move(request), std::move(receiver));
  engine_->Add(exchange);
  return HttpCall(exchange);
}

HttpCall HttpClient::Fetch(HttpRequest request, std::function<void(Result<HttpResponse>)> done) {
  const auto response = std::make_shared<HttpResponse>();
  return Start(std::move(request), {.head = [response](const HttpHead& head) { response->head = head; },
                                    .body = [response](std::string_view piece) { response->body += piece; },
                                    .end =
                                        [response, done = std::move(done)](Result<> outcome) {
                                          if (!outcome) return done(std::move(outcome).error());
                                          done(std::move(*response));
                                        }});
}

void HttpClient::UseTls(TlsSettings tls) { engine_->settings().tls = std::move(tls); }

}  // namespace pintle::net
