// SPDX-License-Identifier: Apache-2.0
#pragma once

// A duration as Go programs read and write it: "1h2m3.5s".

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace pintle::generated {

struct GoDuration {
  std::int64_t nanoseconds = 0;
  bool operator==(const GoDuration&) const = default;
};

// The error has the words of Go's time.ParseDuration.
Result<GoDuration> ParseGoDuration(std::string_view text);

// Returns Go's text of a duration: "0s", "250ms", "1µs", "5m0s".
std::string GoText(GoDuration duration);

}  // namespace pintle::generated
