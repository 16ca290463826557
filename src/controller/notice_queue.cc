// SPDX-License-Identifier: Apache-2.0
#include "controller/notice_queue.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <string_view>
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
  if (notices_.size() > settings_.max_notices) {
    Drop(MostExpendable());
    listener_.trouble(Error(ErrorKind::kUnavailable,
                            "too many notices wait for the receiver, so the oldest ones are dropped, first "
                            "those about the subject with the most notices"));
    listener_.counted();
  }
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
  switch (outcome.kind) {
    case Outcome::Kind::kTaken:
      ++counts_.sent;
      notices_.pop_front();
      break;
    case Outcome::Kind::kFailed:
      ++counts_.failed;
      listener_.trouble(Error(ErrorKind::kUnavailable, outcome.why));
      again_.After(backoff_.Next());
      return listener_.counted();
    case Outcome::Kind::kRefused:
      ++counts_.failed;
      listener_.trouble(Error(ErrorKind::kInvalid, fmt::format("{}, so the notice {} about {} is dropped", outcome.why,
                                                               notices_.front().type, notices_.front().subject)));
      Drop(0);
      break;
  }
  backoff_.Reset();
  SendFirst();
  listener_.counted();
}

// Returns the index of the oldest notice about the subject with the most notices.
std::size_t NoticeQueue::MostExpendable() const {
  // The first notice stays while it is on its way, since the receiver may have taken it already.
  const auto begin = notices_.begin() + (attempt_ ? 1 : 0);
  std::map<std::string_view, std::size_t> counts;
  std::size_t most = 0;
  for (auto at = begin; at != notices_.end(); ++at) most = std::max(most, ++counts[at->subject]);
  const auto found =
      std::find_if(begin, notices_.end(), [&](const Notice& notice) { return counts.at(notice.subject) == most; });
  return static_cast<std::size_t>(found - notices_.begin());
}

void NoticeQueue::Drop(std::size_t index) {
  ++counts_.dropped;
  notices_.erase(notices_.begin() + static_cast<std::ptrdiff_t>(index));
}

}  // namespace pintle::controller
