// SPDX-License-Identifier: Apache-2.0
#include "kube/transport.h"

#include <optional>
#include <utility>

#include "event/loop.h"

namespace pintle::kube {
namespace {

// A Status may contain the largest possible object, escaped.  A longer answer is not a Status, and its beginning would
// not help.
constexpr std::size_t kFailureBodyLimit = 8 << 20;

std::string Joined(const net::Url& server, const std::string& path) {
  std::string text = server.text();
  if (text.ends_with('/')) text.pop_back();
  return text + path;
}

net::ProxySettings ProxyFor(const Config& config) {
  if (config.proxy.empty()) return net::ProxySettings::FromEnvironment();
  return {.for_http = config.proxy, .for_https = config.proxy};
}

}  // namespace

class Transport::Exchange final : public Work, public std::enable_shared_from_this<Exchange> {
 public:
  Exchange(std::shared_ptr<Transport> transport, std::string doing, ApiReceiver receiver)
      : transport_(std::move(transport)), doing_(std::move(doing)), receiver_(std::move(receiver)) {}

  void Begin(ApiRequest request) {
    has_secrets_ = request.has_secrets;
    if (request.method == "GET") repetition_ = request;
    Send(std::move(request), &Exchange::Take, &Exchange::Ended);
  }

 private:
  using Body = void (Exchange::*)(std::string_view piece);
  using End = void (Exchange::*)(const Result<>& outcome);

  void Send(ApiRequest request, Body body, End end) {
    const auto weak = weak_from_this();
    auto prepared = transport_->Prepare(std::move(request));
    if (!prepared) {
      transport_->loop().Post([weak, error = std::move(prepared).error()] {
        if (const auto alive = weak.lock()) alive->Finish(Failure{.error = error});
      });
      return;
    }
    call_ = transport_->http_.Start(*std::move(prepared), {.head =
                                                               [weak](const net::HttpHead& head) {
                                                                 if (const auto alive = weak.lock())
                                                                   alive->head_ = head;
                                                               },
                                                           .body =
                                                               [weak, body](std::string_view piece) {
                                                                 if (const auto alive = weak.lock())
                                                                   (alive.get()->*body)(piece);
                                                               },
                                                           .end =
                                                               [weak, end](const Result<>& outcome) {
                                                                 if (const auto alive = weak.lock())
                                                                   (alive.get()->*end)(outcome);
                                                               }});
  }

  bool IsSuccess() const { return head_.status / 100 == 2; }

  void Take(std::string_view piece) {
    if (!IsSuccess()) {
      if (failure_body_.size() + piece.size() <= kFailureBodyLimit) failure_body_ += piece;
      return;
    }
    Result<> taken = receiver_.body(piece);
    if (!taken && !is_dropped()) Finish(Failure{.error = std::move(taken).error()});
  }

  void Ended(const Result<>& outcome) {
    if (!outcome) return Finish(Failure{.error = outcome.error()});
    if (IsSuccess()) return Finish(std::nullopt);
    Failure failure = FailureFrom(head_, failure_body_);
    if (has_secrets_) failure = WithoutMessage(std::move(failure));
    if (is_server_ready_ || !IsUnknownPath(head_, failure_body_)) return Finish(std::move(failure));
    unknown_path_ = std::move(failure);
    failure_body_.clear();
    Send({.path = "/readyz"}, &Exchange::Ignore, &Exchange::GotReadiness);
  }

  void Ignore(std::string_view) {}

  void GotReadiness(const Result<>& outcome) {
    if (!outcome || head_.status >= 500) {
      // The request has not been carried out, so it may be repeated as after a 503.
      return Finish(Failure{
          .error = Error(ErrorKind::kUnavailable, "the API server does not know the path, but it is still starting"),
          .status = 503});
    }
    if (!repetition_) return Finish(std::move(unknown_path_));
    // The server may have become ready only after its first answer.
    is_server_ready_ = true;
    Send(*std::exchange(repetition_, std::nullopt), &Exchange::Take, &Exchange::Ended);
  }

  void Finish(std::optional<Failure> failure) {
    call_ = {};
    const ApiReceiver receiver = std::exchange(receiver_, {});
    if (failure) failure = While(*std::move(failure), doing_);
    receiver.end(std::move(failure));
  }

  std::shared_ptr<Transport> transport_;
  std::string doing_;
  ApiReceiver receiver_;
  net::HttpHead head_;
  std::string failure_body_;
  std::optional<ApiRequest> repetition_;  // A read that can be sent again.
  std::optional<Failure> unknown_path_;   // The first answer, if the server did not know the path.
  bool is_server_ready_ = false;
  bool has_secrets_ = false;
  net::HttpCall call_;
};

Result<std::shared_ptr<Transport>> Transport::Create(event::Loop& loop, Access access) {
  const Config& config = *TRY(access.Current());
  net::HttpClient http = TRY(net::HttpClient::Create(loop, {.tls = config.tls, .proxy = ProxyFor(config)}));
  return std::shared_ptr<Transport>(new Transport(loop, std::move(access), std::move(http)));
}

Call Transport::Start(ApiRequest request, ApiReceiver receiver) {
  const auto exchange = std::make_shared<Exchange>(shared_from_this(), request.doing, std::move(receiver));
  exchange->Begin(std::move(request));
  return Call(exchange);
}

Result<net::HttpRequest> Transport::Prepare(ApiRequest request) {
  const Config& config = *TRY(access_.Current());
  http_.UseTls(config.tls);
  net::Url url = TRY(net::Url::Parse(Joined(config.server, request.path)));
  auto token = TRY(ReadToken(config));
  net::HttpRequest prepared = {.method = std::move(request.method),
                               .url = std::move(url),
                               .headers = {{"Accept", "application/json"}},
                               .body = std::move(request.body),
                               .bearer_token = std::move(token),
                               .timeouts = request.timeouts,
                               .body_limit = request.body_limit};
  if (!request.content_type.empty()) prepared.headers.push_back({"Content-Type", std::move(request.content_type)});
  return prepared;
}

}  // namespace pintle::kube
