// SPDX-License-Identifier: Apache-2.0
#pragma once

// `pintle-controller token`: what a pointer config has to send along so that its machine is served.

#include <string_view>
#include <vector>

#include "base/exit_status.h"

namespace pintle::controller {

// It gets the words after the verb.
ExitStatus Token(const std::vector<std::string_view>& words);

}  // namespace pintle::controller
