// SPDX-License-Identifier: Apache-2.0
#pragma once

// `pintle-controller garbage`: which rendered configs the controller would remove, and from when on.  It removes none.

#include <string_view>
#include <vector>

#include "base/exit_status.h"

namespace pintle::controller {

// It gets the words after the verb.
ExitStatus ListGarbage(const std::vector<std::string_view>& words);

}  // namespace pintle::controller
