// SPDX-License-Identifier: Apache-2.0
#pragma once

// The Image, mirrors and policies at bootstrap.

#include <filesystem>

#include "vectors/generated/tally.h"

namespace pintle::vectors {

Tally RunImage(const std::filesystem::path& folder);

}  // namespace pintle::vectors
