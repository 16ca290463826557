// SPDX-License-Identifier: Apache-2.0
#pragma once

// When a loop turned last, for other threads that are asked whether it hangs.

#include <atomic>
#include <chrono>

#include "base/clock.h"
#include "event/watches.h"

namespace pintle::event {

class Heartbeat {
 public:
  // The loop is woken once in each interval.
  Heartbeat(Loop& loop, std::chrono::nanoseconds interval);

  // An interval ago, or less, if the loop turns.  Any thread may ask.
  MonotonicTime last() const { return MonotonicTime(MonotonicTime::duration(last_)); }

 private:
  void Beat();

  const std::chrono::nanoseconds interval_;
  std::atomic<MonotonicTime::rep> last_;
  Timer next_;
};

}  // namespace pintle::event
