// SPDX-License-Identifier: Apache-2.0
#pragma once

// Records what this process has seen of a lease, and for how long.
//
// The clocks of machines differ, so the times that a lease contains do not prove that its holder has given up.  Only
// the time that has passed on the monotonic clock of this process proves this.

#include <chrono>
#include <optional>

#include "api/lease.h"
#include "base/clock.h"

namespace pintle::controller {

// What this process has seen of a lease.  The times are zero if there is no lease.
struct LeaseSight {
  std::chrono::milliseconds unchanged_for = {};  // How long the lease has been seen with its present contents.
  std::chrono::milliseconds held_for = {};       // How long the present holder and acquireTime have been seen.
  bool is_written = false;  // The present holder has written the lease since this process first saw it.
};

class LeaseSightings {
 public:
  // Records a lease that was read just now, and returns what is known about it.  `lease` is nullopt if there is none.
  LeaseSight See(const std::optional<api::Lease>& lease, MonotonicTime now);

 private:
  std::optional<api::LeaseSpec> seen_;
  bool is_written_ = false;
  MonotonicTime seen_since_;  // When the lease was first seen with the contents `seen_`.
  MonotonicTime held_since_;  // When the lease was first seen with its present holder and acquireTime.
};

}  // namespace pintle::controller
