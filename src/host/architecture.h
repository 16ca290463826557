// SPDX-License-Identifier: Apache-2.0
#pragma once

// Returns the architecture of this machine as uname(2) names it, such as "x86_64" or "aarch64".

#include <string>

#include "base/result.h"

namespace pintle::host {

Result<std::string> Architecture();

}  // namespace pintle::host
