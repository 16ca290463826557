// SPDX-License-Identifier: Apache-2.0
#pragma once

// `pintle-controller token`: what a pointer config has to send along so that its machine is served.

#include <string_view>
#include <vector>

namespace pintle::controller {

// The words after the verb.  What the process is to exit with.
int Token(const std::vector<std::string_view>& words);

}  // namespace pintle::controller
