// SPDX-License-Identifier: Apache-2.0
#pragma once

// "data:" URLs, which carry the contents of files inside a config.

#include <string>
#include <string_view>

#include "base/result.h"
#include "base/take_piece.h"

namespace pintle::ignition {

inline bool IsDataUrl(std::string_view url) { return url.starts_with("data:"); }

// Returns in Ignition's words why this is not a data URL, or "" if it is one.
std::string DataUrlProblem(std::string_view url);

// Returns the bytes that a data URL contains.
Result<std::string> DecodeDataUrl(std::string_view url);

// Passes the bytes that a data URL contains to `take` in pieces, until `take` returns false.
Result<> WalkDataUrl(std::string_view url, const TakePiece& take);

// Encodes bytes with percent escapes as "data:,...": all but letters, digits and -_.!~*'() are escaped.
std::string EncodeDataUrl(std::string_view bytes);

}  // namespace pintle::ignition
