// SPDX-License-Identifier: Apache-2.0
#pragma once

// What to do about a problem of a config.

#include <string_view>

namespace pintle::machineconfig {

// Half a sentence for the person who wrote it; empty when the problem says it itself.
std::string_view RemedyFor(std::string_view problem);

}  // namespace pintle::machineconfig
