// SPDX-License-Identifier: Apache-2.0
#pragma once

// `pintle-controller start`: all that a cluster needs, until it is told to stop.

#include <string_view>
#include <vector>

#include "base/exit_status.h"

namespace pintle::controller {

// It gets the words after the verb.
ExitStatus Start(const std::vector<std::string_view>& words);

}  // namespace pintle::controller
