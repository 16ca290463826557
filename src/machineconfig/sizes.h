// SPDX-License-Identifier: Apache-2.0
#pragma once

// How long the parts of a config may be that a machine is given: base/size_limits.h has the numbers.

#include <string>

#include "base/result.h"
#include "ignition/config.h"

namespace pintle::machineconfig {

// An error for the first file with contents, or the first user with keys, that no machine takes, and for a config that
// is too long as a whole.  Contents that cannot be decoded are no matter here.  Decodes what is compressed.
Result<> CheckSizes(const ignition::Config& config);

// "; of that, /etc/big has 5 bytes: ..." of a config that is too long, with what to do about it.
std::string LargestFileText(const ignition::Config& config);

}  // namespace pintle::machineconfig
