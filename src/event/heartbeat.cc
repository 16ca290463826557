// SPDX-License-Identifier: Apache-2.0
#include "event/heartbeat.h"

namespace pintle::event {

Heartbeat::Heartbeat(Loop& loop, std::chrono::nanoseconds interval)
    : interval_(interval), last_(0), next_(loop, [this] { Beat(); }) {
  Beat();
}

void Heartbeat::Beat() {
  last_ = SystemClock().Monotonic().time_since_epoch().count();
  next_.After(interval_);
}

}  // namespace pintle::event
