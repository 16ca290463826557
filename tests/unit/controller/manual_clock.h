// SPDX-License-Identifier: Apache-2.0
#pragma once

// A clock that stands still until a test moves it.

#include <chrono>

#include "base/clock.h"

namespace pintle::controller {

class ManualClock final : public Clock {
 public:
  MonotonicTime Monotonic() const override { return now; }
  WallTime Wall() const override { return WallTime(std::chrono::seconds(1'800'000'000)) + now.time_since_epoch(); }

  MonotonicTime now = {};
};

}  // namespace pintle::controller
