// SPDX-License-Identifier: Apache-2.0
#pragma once

// Limits how often expensive work begins.  After the work, there is a pause that is four times as long as the work, but
// no longer than two seconds.  So work of up to half a second takes no more than a fifth of a processor, even if it is
// requested all the time.

#include <algorithm>
#include <chrono>

#include "base/clock.h"

namespace pintle::agent {

class Pace {
 public:
  static constexpr int kPauseFactor = 4;  // The pause after the work lasts this many times as long as the work did.
  static constexpr auto kLongestPause = std::chrono::seconds(2);

  // Records when the last piece of work began and ended.
  void Took(MonotonicTime began, MonotonicTime ended) {
    next_ = ended + std::min<MonotonicTime::duration>(kPauseFactor * (ended - began), kLongestPause);
  }

  // The work should not begin again before this time.
  MonotonicTime next() const { return next_; }

 private:
  MonotonicTime next_ = MonotonicTime::min();
};

}  // namespace pintle::agent
