// SPDX-License-Identifier: Apache-2.0
#pragma once

// Sends notices one after the other, and repeats a failed attempt after a growing pause.
//
// A notice is sent only after the receiver has taken or refused the previous notice, so all notices arrive in their
// order.  The queue has a limited length.  When the queue is full, the oldest notice about the subject with the most
// notices is dropped.  So a node that reports one fault after the other does not displace the notices about other
// nodes.

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>

#include "base/result.h"
#include "controller/notices.h"
#include "event/loop.h"
#include "event/watches.h"
#include "kube/backoff.h"

namespace pintle::controller {

struct NoticeCounts {
  std::uint64_t sent = 0;     // Notices that the receiver has taken.
  std::uint64_t failed = 0;   // Attempts that have failed.
  std::uint64_t dropped = 0;  // Notices that will never be sent.
};

class NoticeQueue {
 public:
  struct Outcome {
    enum class Kind {
      kTaken,
      kFailed,   // A later attempt may succeed.
      kRefused,  // The receiver will never take this notice.
    };
    Kind kind = Kind::kTaken;
    std::string why = {};  // Empty for kTaken.
  };

  // Begins an attempt, and calls `done` once, at the latest when the attempt has timed out.
  using Send = std::function<void(const Notice& notice, std::function<void(Outcome outcome)> done)>;

  struct Settings {
    std::size_t max_notices = 1000;  // The length of the queue.
    kube::Backoff::Settings pauses = {
        .first = std::chrono::seconds(1), .longest = std::chrono::minutes(4), .jitter = 0.25};
  };

  struct Listener {
    std::function<void()> counted;  // A count has changed.
    std::function<void(const Error& error)> trouble;
  };

  // The loop must outlive the queue.
  NoticeQueue(event::Loop& loop, Settings settings, kube::Random random, Send send, Listener listener);
  NoticeQueue(const NoticeQueue&) = delete;
  NoticeQueue& operator=(const NoticeQueue&) = delete;

  void Add(Notice notice);
  // Forgets all notices, and ignores the outcome of an attempt that is under way.  Forgotten notices do not count as
  // dropped.
  void Clear();

  const NoticeCounts& counts() const { return counts_; }
  std::size_t size() const { return notices_.size(); }

 private:
  void SendFirst();
  // Must be called when the attempt to send the first notice has ended.
  void Ended(const Outcome& outcome);
  std::size_t MostExpendable() const;
  void Drop(std::size_t index);

  const Settings settings_;
  Send send_;
  Listener listener_;
  std::deque<Notice> notices_;
  // Exists while the first notice is on its way.  Clear() resets it, so that the outcome of this attempt is ignored.
  std::shared_ptr<const int> attempt_;
  kube::Backoff backoff_;
  NoticeCounts counts_;
  event::Timer again_;
};

}  // namespace pintle::controller
