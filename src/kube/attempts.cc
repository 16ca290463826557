// SPDX-License-Identifier: Apache-2.0
#include "kube/attempts.h"

#include <algorithm>
#include <utility>

#include "event/watches.h"

namespace pintle::kube {
namespace {

// No object is as large as this; lists are fetched in another way.
constexpr std::uint64_t kBodyLimit = 16 << 20;

class Attempts final : public Work, public std::enable_shared_from_this<Attempts> {
 public:
  Attempts(std::shared_ptr<Transport> transport, ApiRequest request, Repeatable repeatable, const Patience& patience,
           std::function<void(Fetched)> done)
      : transport_(std::move(transport)),
        request_(std::move(request)),
        repeatable_(repeatable),
        attempts_left_(patience.attempts),
        backoff_(patience.backoff, patience.random),
        done_(std::move(done)),
        again_(
            transport_->loop(), [this] { Try(); }, kRetrySlack) {
    request_.body_limit = kBodyLimit;
  }

  void Try() {
    --attempts_left_;
    body_.clear();
    const auto weak = weak_from_this();
    call_ = transport_->Start(request_, {.body = [weak](std::string_view piece) -> Result<> {
                                           if (const auto alive = weak.lock()) alive->body_ += piece;
                                           return {};
                                         },
                                         .end =
                                             [weak](std::optional<Failure> failure) {
                                               if (const auto alive = weak.lock()) alive->Ended(std::move(failure));
                                             }});
  }

 private:
  void Ended(std::optional<Failure> failure) {
    if (failure && attempts_left_ > 0 && IsWorthAnotherAttempt(*failure, repeatable_)) {
      return again_.After(DelayBefore(*failure, backoff_));
    }
    const auto done = std::exchange(done_, {});
    if (failure) return done(*std::move(failure));
    done(std::move(body_));
  }

  std::shared_ptr<Transport> transport_;
  ApiRequest request_;
  Repeatable repeatable_;
  int attempts_left_;
  Backoff backoff_;
  std::function<void(Fetched)> done_;
  std::string body_;
  event::Timer again_;
  Call call_;
};

}  // namespace

bool IsWorthAnotherAttempt(const Failure& failure, Repeatable repeatable) {
  // A disruption budget allows the eviction once other pods are ready; the drain waits for them with its own interval.
  if (failure.disruption_budget || failure.IsExpired()) return false;
  if (failure.error.kind() != ErrorKind::kUnavailable) return false;
  const bool is_rejected = failure.status == 429 || failure.status == 503;
  return repeatable == Repeatable::kYes || is_rejected;
}

std::chrono::milliseconds DelayBefore(const Failure& failure, Backoff& backoff) {
  return std::max(backoff.Next(), failure.retry_after.value_or(std::chrono::milliseconds(0)));
}

Call Fetch(std::shared_ptr<Transport> transport, ApiRequest request, Repeatable repeatable, const Patience& patience,
           std::function<void(Fetched)> done) {
  const auto attempts =
      std::make_shared<Attempts>(std::move(transport), std::move(request), repeatable, patience, std::move(done));
  attempts->Try();
  return Call(attempts);
}

}  // namespace pintle::kube
