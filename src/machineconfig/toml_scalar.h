// SPDX-License-Identifier: Apache-2.0
#pragma once

// The numbers, dates and times of TOML 1.0.

#include <optional>
#include <string_view>

#include "json/value.h"

namespace pintle::machineconfig {

// Returns the value of a number, or a date or time as a string.  Returns nullopt if TOML does not allow the word, such
// as 0644 or 1__0, or if the number needs more than 64 bits.
std::optional<json::Value> TomlScalar(std::string_view word);

}  // namespace pintle::machineconfig
