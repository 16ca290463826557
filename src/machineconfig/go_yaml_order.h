// SPDX-License-Identifier: Apache-2.0
#pragma once

// The order in which Go's yaml.v2 writes the keys of a mapping.

#include <string_view>

namespace pintle::machineconfig {

// Whether `a` stands before `b`: numbers inside of keys count as numbers, and letters stand behind all else.
bool IsBefore(std::string_view a, std::string_view b);

}  // namespace pintle::machineconfig
