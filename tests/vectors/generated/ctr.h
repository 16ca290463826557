// SPDX-License-Identifier: Apache-2.0
#pragma once

// ContainerRuntimeConfigs at bootstrap.

#include <filesystem>

#include "vectors/generated/tally.h"

namespace pintle::vectors {

Tally RunCtr(const std::filesystem::path& folder);

}  // namespace pintle::vectors
