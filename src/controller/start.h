// SPDX-License-Identifier: Apache-2.0
#pragma once

// `pintle-controller start`: runs everything that a cluster needs, until it is stopped by a signal.

#include <string_view>
#include <vector>

#include "base/exit_status.h"

namespace pintle::controller {

// `words` are the arguments after the verb.
ExitStatus Start(const std::vector<std::string_view>& words);

}  // namespace pintle::controller
