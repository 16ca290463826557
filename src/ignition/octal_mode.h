// SPDX-License-Identifier: Apache-2.0
#pragma once

// Detects modes that were written in octal, as for chmod, where a decimal number is read: 644 is 01204.

#include <cstdint>
#include <optional>

namespace pintle::ignition {

// Returns the mode that the digits mean in octal: 0644 for 644.  Returns nullopt if the number itself is a common
// mode, as 420 is, if it does not have one to three octal digits, or if the mode in octal is not a common one.
std::optional<std::int64_t> MeantInOctal(std::int64_t mode);

}  // namespace pintle::ignition
