// SPDX-License-Identifier: Apache-2.0
#pragma once

// The bytes that a file of a config has.

#include <cstddef>
#include <string>

#include "base/result.h"
#include "base/size_limits.h"
#include "base/take_piece.h"
#include "ignition/config.h"

namespace pintle::machineconfig {

// Decoded and unpacked, piece by piece; without a source there are none.  Only data URLs have their bytes in the
// config. More than `limit` bytes are an error.
Result<> WalkContents(const ignition::Resource& resource, const TakePiece& take,
                      std::size_t limit = limits::kFileContents);

// The same as a whole, for who has to have all of them in memory.
Result<std::string> ContentsOf(const ignition::Resource& resource, std::size_t limit);

// What is looked at as a whole is never longer than this where it means something.
inline constexpr std::size_t kMostLookedAt = 16 << 20;

}  // namespace pintle::machineconfig
