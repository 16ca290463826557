// SPDX-License-Identifier: Apache-2.0
#pragma once

// Limits how often a change's progress is published.  Each new activity is published at once, and its percentage at
// most once a second.  A report that comes too soon waits, and is replaced by the next one.

#include <chrono>
#include <optional>
#include <string>
#include <utility>

#include "base/clock.h"
#include "host/ostree/activity_progress.h"

namespace pintle::agent {

class ProgressPace {
 public:
  static constexpr auto kPause = std::chrono::seconds(1);

  // Returns the text to publish now, or nullopt if a report waits until next_time().
  std::optional<std::string> Take(host::ActivityProgress progress, MonotonicTime now) {
    if (std::exchange(doing_, progress.doing) != progress.doing) next_ = now;
    waiting_ = std::move(progress);
    return TakeIfDue(now);
  }

  // Returns the text of the report that waits, if its time has come.
  std::optional<std::string> TakeIfDue(MonotonicTime now) {
    if (!waiting_ || now < next_) return std::nullopt;
    next_ = now + kPause;
    return InWords(*std::exchange(waiting_, std::nullopt));
  }

  // Returns the time at which to publish the report that waits, or nullopt if none waits.
  std::optional<MonotonicTime> next_time() const { return waiting_ ? std::optional(next_) : std::nullopt; }

  // Drops the report that waits, since something else is published.
  void Forget() { *this = {}; }

 private:
  std::string doing_;
  std::optional<host::ActivityProgress> waiting_;
  MonotonicTime next_ = MonotonicTime::min();
};

}  // namespace pintle::agent
