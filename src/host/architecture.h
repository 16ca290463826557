// SPDX-License-Identifier: Apache-2.0
#pragma once

// The architecture of this machine, in the words of uname(2): "x86_64", "aarch64".

#include <string>

#include "base/result.h"

namespace pintle::host {

Result<std::string> Architecture();

}  // namespace pintle::host
