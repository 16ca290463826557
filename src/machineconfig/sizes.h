// SPDX-License-Identifier: Apache-2.0
#pragma once

// Whether a config is short enough for a machine, as a whole and in its parts: base/size_limits.h has the numbers.

#include <string>

#include "base/result.h"
#include "ignition/config.h"

namespace pintle::machineconfig {

// An error for the first file whose contents are too long, for the first user whose keys are, and for a config that is
// too long as a whole.  Compressed contents are decoded for this; contents that cannot be decoded are no error here.
Result<> CheckSizes(const ignition::Config& config);

// The end of the error about a config that is too long, with its largest file and the remedy: "; of that, /etc/big has
// 5 bytes: ...".
std::string LargestFileText(const ignition::Config& config);

}  // namespace pintle::machineconfig
