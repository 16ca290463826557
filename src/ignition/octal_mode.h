// SPDX-License-Identifier: Apache-2.0
#pragma once

// Modes that were written as chmod takes them where a decimal number is read: 644, which is 01204.

#include <cstdint>
#include <optional>

namespace pintle::ignition {

// The mode that the number was to be if its digits are octal: 0644 for 644.  Nothing where the number itself is a mode
// that people give, as 420 is, or where its digits are none.
std::optional<std::int64_t> MeantInOctal(std::int64_t mode);

}  // namespace pintle::ignition
