// SPDX-License-Identifier: Apache-2.0
#pragma once

// Publishes the time of a loop's last turn, so that other threads can find out whether the loop hangs.

#include <atomic>
#include <chrono>

#include "base/clock.h"
#include "event/watches.h"

namespace pintle::event {

class Heartbeat {
 public:
  // Wakes the loop once in each interval.
  Heartbeat(Loop& loop, std::chrono::nanoseconds interval);

  // Returns the time of the last beat, which is at most an interval ago while the loop turns.  Any thread may call
  // it.
  MonotonicTime last() const { return MonotonicTime(MonotonicTime::duration(last_)); }

 private:
  void Beat();

  const std::chrono::nanoseconds interval_;
  std::atomic<MonotonicTime::rep> last_;
  Timer next_;
};

}  // namespace pintle::event
