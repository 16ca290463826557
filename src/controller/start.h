// SPDX-License-Identifier: Apache-2.0
#pragma once

// `pintle-controller start`: all that a cluster needs, until it is told to stop.

#include <string_view>
#include <vector>

namespace pintle::controller {

// The words after the verb.  What the process is to exit with.
int Start(const std::vector<std::string_view>& words);

}  // namespace pintle::controller
