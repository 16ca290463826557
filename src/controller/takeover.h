// SPDX-License-Identifier: Apache-2.0
#pragma once

// `pintle-controller takeover`: hands a cluster over from the Machine Config Operator, and back.

#include <string_view>
#include <vector>

#include "base/exit_status.h"

namespace pintle::controller {

// `arguments` are those after the verb.
ExitStatus Takeover(const std::vector<std::string_view>& arguments);

}  // namespace pintle::controller
