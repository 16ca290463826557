// SPDX-License-Identifier: Apache-2.0
#pragma once

// Puts a pause report into words: the condition PausedPending of a pool.
//
// The condition states points in time instead of ages, so that it changes only when the report does.

#include <chrono>
#include <optional>
#include <string_view>
#include <vector>

#include "api/meta.h"
#include "base/clock.h"
#include "controller/pause_report.h"

namespace pintle::controller {

inline constexpr std::string_view kPausedPending = "PausedPending";
// A waiting certificate that expires sooner than this is urgent, as in the alert's runbook.
inline constexpr auto kCertificateIsUrgent = std::chrono::days(14);

// Sets the condition; a pool that is not paused and never was gets none.
void SetPausedPending(const PauseReport& report, WallTime now, std::vector<api::Condition>& conditions);

// Returns when the condition changes only because time passes, if it will.
std::optional<WallTime> NextChange(const PauseReport& report, WallTime now);

}  // namespace pintle::controller
