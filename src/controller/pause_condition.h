// SPDX-License-Identifier: Apache-2.0
#pragma once

// Makes a pool's condition PausedPending from a pause report.
//
// The message has points in time instead of ages, so that the message changes only when the report changes.  The reason
// also changes with time: when a certificate that is to be replaced is about to expire, and when it has expired.

#include <chrono>
#include <optional>
#include <string_view>
#include <vector>

#include "api/meta.h"
#include "base/clock.h"
#include "controller/pause_report.h"

namespace pintle::controller {

inline constexpr std::string_view kPausedPending = "PausedPending";
// A new certificate that waits is urgent if the nodes' old one expires sooner than this.  The critical alert about
// paused pools has the same limit (deploy/monitoring).
inline constexpr auto kCertificateIsUrgent = std::chrono::days(14);

// Sets the condition.  If the pool is not paused, the condition becomes False, and is not added if it is missing.
void SetPausedPending(const PauseReport& report, WallTime now, std::vector<api::Condition>& conditions);

// Returns the next time at which the condition changes although the report stays the same, or nullopt.
std::optional<WallTime> NextChange(const PauseReport& report, WallTime now);

}  // namespace pintle::controller
