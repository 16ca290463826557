// SPDX-License-Identifier: Apache-2.0
#include "kube/transport.h"

#include <utility>

#include "event/loop.h"

namespace pintle::kube {
namespace {

// A Status may contain the largest possible object, escaped.  A longer answer is some other page, whose beginning would
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

  void Begin(Result<net::HttpRequest> request) {
    const auto weak = weak_from_this();
    if (!request) {
      transport_->loop().Post([weak, error = std::move(request).error()] {
        if (const auto alive = weak.lock()) alive->End(Failure{.error = error});
      });
      return;
    }
    call_ = transport_->http_.Start(*std::move(request), {.head =
                                                              [weak](const net::HttpHead& head) {
                                                                if (const auto alive = weak.lock()) alive->head_ = head;
                                                              },
                                                          .body =
                                                              [weak](std::string_view piece) {
                                                                if (const auto alive = weak.lock()) alive->Take(piece);
                                                              },
                                                          .end =
                                                              [weak](Result<> outcome) {
                                                                if (const auto alive = weak.lock())
                                                                  alive->Ended(outcome);
                                                              }});
  }

 private:
  bool IsSuccess() const { return head_.status / 100 == 2; }

  void Take(std::string_view piece) {
    if (!IsSuccess()) {
      if (failure_body_.size() + piece.size() <= kFailureBodyLimit) failure_body_ += piece;
      return;
    }
    Result<> taken = receiver_.body(piece);
    if (!taken && !is_dropped()) End(Failure{.error = std::move(taken).error()});
  }

  void Ended(const Result<>& outcome) {
    if (!outcome) return End(Failure{.error = outcome.error()});
    if (IsSuccess()) return End(std::nullopt);
    End(FailureFrom(head_, failure_body_));
  }

  void End(std::optional<Failure> failure) {
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
  net::HttpCall call_;
};

Result<std::shared_ptr<Transport>> Transport::Create(event::Loop& loop, Access access) {
  const Config& config = *TRY(access.Now());
  net::HttpClient http = TRY(net::HttpClient::Create(loop, {.tls = config.tls, .proxy = ProxyFor(config)}));
  return std::shared_ptr<Transport>(new Transport(loop, std::move(access), std::move(http)));
}

Call Transport::Start(ApiRequest request, ApiReceiver receiver) {
  const auto exchange = std::make_shared<Exchange>(shared_from_this(), request.doing, std::move(receiver));
  exchange->Begin(Prepare(std::move(request)));
  return Call(exchange);
}

Result<net::HttpRequest> Transport::Prepare(ApiRequest request) {
  const Config& config = *TRY(access_.Now());
  http_.UseTls(config.tls);
  net::HttpRequest prepared = {.method = std::move(request.method),
                               .url = TRY(net::Url::Parse(Joined(config.server, request.path))),
                               .headers = {{"Accept", "application/json"}},
                               .body = std::move(request.body),
                               .bearer_token = TRY(ReadToken(config)),
                               .timeouts = request.timeouts,
                               .body_limit = request.body_limit};
  if (!request.content_type.empty()) prepared.headers.push_back({"Content-Type", std::move(request.content_type)});
  return prepared;
}

}  // namespace pintle::kube
