// SPDX-License-Identifier: Apache-2.0
#pragma once

// The command `pintle-controller start`.  It runs the controller and, as its options request, the Ignition server, the
// metrics and the page of the cluster, until SIGTERM or SIGINT ends it.

#include <string_view>
#include <vector>

#include "base/exit_status.h"

namespace pintle::controller {

// `arguments` are those after the verb.
ExitStatus Start(const std::vector<std::string_view>& arguments);

}  // namespace pintle::controller
