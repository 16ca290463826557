// SPDX-License-Identifier: Apache-2.0
#pragma once

// How long something takes or may take, as people write it: in files of settings and in annotations.

#include <chrono>
#include <string>
#include <string_view>

#include "base/result.h"

namespace pintle {

// As systemd writes it: "90" (seconds), "5s", "250ms", "1h 30min"; a year at most.
Result<std::chrono::milliseconds> ParseTimeSpan(std::string_view text);

// As Go programs write it: "1m30s", "1h0m0s".
std::string GoTimeSpan(std::chrono::seconds span);

// As people say it: "1 hour", "10 minutes", "45 seconds".
std::string InWords(std::chrono::nanoseconds span);

}  // namespace pintle
