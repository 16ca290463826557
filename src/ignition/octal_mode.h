// SPDX-License-Identifier: Apache-2.0
#pragma once

// Detects modes that were written in octal, as for chmod, but are read as decimal numbers: 644 is 01204.

#include <cstdint>
#include <optional>

namespace pintle::ignition {

// Returns the mode that the digits mean in octal: 0644 for 644.  Returns nullopt if the number itself is a common mode
// such as 420, if it is not written with one to three octal digits, or if the mode in octal is not common.
std::optional<std::int64_t> MeantInOctal(std::int64_t mode);

}  // namespace pintle::ignition
