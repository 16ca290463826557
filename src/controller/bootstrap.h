// SPDX-License-Identifier: Apache-2.0
#pragma once

// `pintle-controller bootstrap`: makes the rendered configs of a new cluster's first machines from a folder of
// manifests, for `pintle-controller serve --bootstrap`.

#include <string_view>
#include <vector>

#include "base/exit_status.h"

namespace pintle::controller {

// `arguments` are those after the verb.
ExitStatus Bootstrap(const std::vector<std::string_view>& arguments);

}  // namespace pintle::controller
