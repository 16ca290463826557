// SPDX-License-Identifier: Apache-2.0
#pragma once

// The condition PausedPending of a pool: what waits behind its pause, in words.
//
// It names times and no ages, so that it changes only when there is something else to say.

#include <chrono>
#include <optional>
#include <string_view>
#include <vector>

#include "api/meta.h"
#include "base/clock.h"
#include "controller/pause_report.h"

namespace pintle::controller {

inline constexpr std::string_view kPausedPending = "PausedPending";
// How long before its end a certificate that waits to be replaced is urgent, as the alert's runbook has it.
inline constexpr auto kCertificateIsUrgent = std::chrono::days(14);

// Sets the condition; a pool that is not paused and never was gets none.
void SetPausedPending(const PauseReport& report, WallTime now, std::vector<api::Condition>& conditions);

// When the condition will say something else although nothing else has happened.
std::optional<WallTime> NextWord(const PauseReport& report, WallTime now);

}  // namespace pintle::controller
