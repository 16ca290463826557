// SPDX-License-Identifier: Apache-2.0
#pragma once

// Times for tests of statuses.

#include <chrono>

#include "base/clock.h"

namespace pintle::generated {

inline constexpr WallTime kNow = WallTime(std::chrono::seconds(1'800'000'000));
inline constexpr WallTime kLater = kNow + std::chrono::seconds(1);

}  // namespace pintle::generated
