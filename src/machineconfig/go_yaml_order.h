// SPDX-License-Identifier: Apache-2.0
#pragma once

// The order in which Go's yaml.v2 writes the keys of a mapping.

#include <string_view>

namespace pintle::machineconfig {

// Returns whether `a` comes before `b`: digits in keys compare as numbers, and letters come after everything else.
bool IsBefore(std::string_view a, std::string_view b);

}  // namespace pintle::machineconfig
