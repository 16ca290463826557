// SPDX-License-Identifier: Apache-2.0
#pragma once

// Decodes the contents of a config's files.

#include <cstddef>
#include <string>

#include "base/result.h"
#include "base/size_limits.h"
#include "base/take_piece.h"
#include "ignition/config.h"

namespace pintle::machineconfig {

// Passes the decoded and unpacked contents to `take` in pieces.  A resource without a source has no contents.  The
// source must be a data URL, since only data URLs have the contents in the config.  More than `limit` bytes are an
// error.
Result<> WalkContents(const ignition::Resource& resource, const TakePiece& take,
                      std::size_t limit = limits::kFileContents);

// Returns the contents as a whole, for callers that need all of them in memory.
Result<std::string> ContentsOf(const ignition::Resource& resource, std::size_t limit);

// The limit for the contents of files that Pintle itself parses or compares; real files of this kind are shorter.
inline constexpr std::size_t kParsedContentsLimit = 16 << 20;

}  // namespace pintle::machineconfig
