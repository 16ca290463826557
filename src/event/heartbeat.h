// SPDX-License-Identifier: Apache-2.0
#pragma once

// Records the time at regular intervals on a loop's thread, so that other threads can find out whether the loop hangs.

#include <atomic>
#include <chrono>

#include "base/clock.h"
#include "event/watches.h"

namespace pintle::event {

class Heartbeat {
 public:
  // Wakes the loop once in each interval.
  Heartbeat(Loop& loop, std::chrono::nanoseconds interval);

  // Returns the time that was recorded last.  Unless the loop hangs, that time is not much more than an interval ago.
  // Any thread may call this function.
  MonotonicTime last() const { return MonotonicTime(MonotonicTime::duration(last_)); }

 private:
  void Beat();

  const std::chrono::nanoseconds interval_;
  std::atomic<MonotonicTime::rep> last_;
  Timer next_;
};

}  // namespace pintle::event
