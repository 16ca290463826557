// SPDX-License-Identifier: Apache-2.0
#pragma once

// `pintle-controller token`: prints the HTTP headers for a pointer config, with which a new machine may fetch its
// config.

#include <string_view>
#include <vector>

#include "base/exit_status.h"

namespace pintle::serving {

// `arguments` are those after the verb.
ExitStatus Token(const std::vector<std::string_view>& arguments);

}  // namespace pintle::serving
