// SPDX-License-Identifier: Apache-2.0
#pragma once

// Checks the size of a config and of its parts; the limits are in base/size_limits.h.

#include <string>

#include "base/result.h"
#include "ignition/config.h"

namespace pintle::machineconfig {

// Returns an error if the config is too long as a whole, otherwise for the first file whose contents are too long,
// otherwise for the first user whose keys are too long.  Compressed contents are decoded; contents that cannot be
// decoded are not an error here.
Result<> CheckFitsNode(const ignition::Config& config);

// Returns a text to append to an error about a config that is too long.  The text names the largest file and the
// remedy, such as "; of that, /etc/big has 5 bytes: compress it with gzip, or ...".  Returns "" if the config has no
// files.
std::string LargestFileText(const ignition::Config& config);

}  // namespace pintle::machineconfig
