// SPDX-License-Identifier: Apache-2.0
#pragma once

// `pintle-controller garbage`: lists the rendered configs that the controller would remove, and when.  The command
// itself removes nothing.

#include <string_view>
#include <vector>

#include "base/exit_status.h"

namespace pintle::controller {

// `arguments` are those after the verb.
ExitStatus ListGarbage(const std::vector<std::string_view>& arguments);

}  // namespace pintle::controller
