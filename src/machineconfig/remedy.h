// SPDX-License-Identifier: Apache-2.0
#pragma once

// The remedies for problems of a config.

#include <string_view>

namespace pintle::machineconfig {

// Returns a phrase for the author of the config, or "" if no remedy is known.
std::string_view RemedyForConfigProblem(std::string_view problem);

}  // namespace pintle::machineconfig
