// SPDX-License-Identifier: Apache-2.0
#pragma once

// Durations as people write them in configuration files and annotations.

#include <chrono>
#include <string>
#include <string_view>

#include "base/result.h"

namespace pintle {

// Parses a duration in systemd's syntax: "90" (seconds), "5s", "250ms", "1h 30min".  Numbers are whole, units go from
// milliseconds to weeks, and the maximum is a year.
Result<std::chrono::milliseconds> ParseTimeSpan(std::string_view text);

// Formats a duration as Go programs do: "1m30s", "1h0m0s".
std::string GoTimeSpan(std::chrono::seconds span);

// Formats a duration in English, in hours, minutes or seconds, whichever is the largest unit that divides it: "1 hour",
// "10 minutes", "90 seconds".  A fraction of a second is dropped.
std::string InWords(std::chrono::nanoseconds span);

}  // namespace pintle
