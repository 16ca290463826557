// SPDX-License-Identifier: Apache-2.0
#pragma once

// The bytes that a file of a config has.

#include <cstddef>
#include <string>

#include "base/result.h"
#include "ignition/compression.h"
#include "ignition/config.h"

namespace pintle::machineconfig {

// Decoded and unpacked; without a source there are none.  Only data URLs have their bytes in the config.
Result<std::string> ContentsOf(const ignition::Resource& resource, std::size_t limit = ignition::kUnpackedLimit);

}  // namespace pintle::machineconfig
