// SPDX-License-Identifier: Apache-2.0
#pragma once

// What kind of machine this is, as uname(2) calls it: "x86_64", "aarch64".

#include <string>

#include "base/result.h"

namespace pintle::host {

Result<std::string> MachineName();

}  // namespace pintle::host
