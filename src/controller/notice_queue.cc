// SPDX-License-Identifier: Apache-2.0
#include "controller/notice_queue.h"

#include <fmt/core.h>

#include <utility>

namespace pintle::controller {

NoticeQueue::NoticeQueue(event::Loop& loop, Settings settings, kube::Random random, Send send, Listener listener)
    : settings_(settings),
      send_(std::move(send)),
      listener_(std::move(listener)),
      backoff_(settings.pauses, std::move(random)),
      again_(
          loop, [this] { SendFirst(); }, kube::kRetrySlack) {}

void NoticeQueue::Add(Notice notice) {
  notices_.push_back(std::move(notice));
  // The first notice stays while it is on its way, since the receiver may have taken it already.
  if (notices_.size() > settings_.longest) Drop(attempt_ ? 1 : 0, "too many notices wait for the receiver");
  if (!attempt_ && !again_.armed()) SendFirst();
}

void NoticeQueue::Clear() {
  notices_.clear();
  attempt_.reset();
  backoff_.Reset();
  again_.Cancel();
}

void NoticeQueue::SendFirst() {
  if (notices_.empty()) return;
  attempt_ = std::make_shared<const int>(0);
  send_(notices_.front(), [this, attempt = std::weak_ptr(attempt_)](const Outcome& outcome) {
    if (!attempt.expired()) Ended(outcome);
  });
}

void NoticeQueue::Ended(const Outcome& outcome) {
  attempt_.reset();
  if (outcome.kind == Outcome::Kind::kTaken) {
    ++counts_.sent;
    notices_.pop_front();
  } else {
    ++counts_.failed;
    listener_.trouble(Error(ErrorKind::kUnavailable, outcome.why));
    if (outcome.kind == Outcome::Kind::kRefused) Drop(0, outcome.why);
  }
  if (outcome.kind == Outcome::Kind::kFailed) {
    again_.After(backoff_.Next());
  } else {
    backoff_.Reset();
    SendFirst();
  }
  listener_.counted();
}

void NoticeQueue::Drop(std::size_t index, const std::string& why) {
  const auto dropped = notices_.begin() + static_cast<std::ptrdiff_t>(index);
  ++counts_.dropped;
  listener_.trouble(Error(ErrorKind::kInvalid,
                          fmt::format("the notice {} about {} is not sent: {}", dropped->type, dropped->subject, why)));
  notices_.erase(dropped);
  listener_.counted();
}

}  // namespace pintle::controller
