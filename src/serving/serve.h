// SPDX-License-Identifier: Apache-2.0
#pragma once

// `pintle-controller serve`: runs the Ignition server alone, from files and without a cluster.

#include <string_view>
#include <vector>

#include "base/exit_status.h"

namespace pintle::serving {

// `arguments` are those after the verb.
ExitStatus Serve(const std::vector<std::string_view>& arguments);

}  // namespace pintle::serving
