// SPDX-License-Identifier: Apache-2.0
#pragma once

// `pintle-controller serve`: the Ignition server alone, from files and without a cluster.

#include <string_view>
#include <vector>

namespace pintle::controller {

// The words after the verb.  What the process is to exit with.
int Serve(const std::vector<std::string_view>& words);

}  // namespace pintle::controller
