// SPDX-License-Identifier: Apache-2.0
#pragma once

// gzip, for configs and for the contents of files.

#include <cstddef>
#include <string>
#include <string_view>

#include "base/result.h"

namespace pintle::ignition {

// A few kilobytes can unpack to more than a machine has.
inline constexpr std::size_t kUnpackedLimit = 256 << 20;

inline bool IsGzip(std::string_view bytes) { return bytes.starts_with("\x1f\x8b"); }

// Unpacks all members, one behind the other.  More than `limit` bytes are an error.
Result<std::string> Gunzip(std::string_view bytes, std::size_t limit = kUnpackedLimit);

}  // namespace pintle::ignition
