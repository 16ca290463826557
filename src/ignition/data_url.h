// SPDX-License-Identifier: Apache-2.0
#pragma once

// "data:" URLs, which carry the contents of files inside a config.

#include <string>
#include <string_view>

#include "base/result.h"
#include "base/take_piece.h"

namespace pintle::ignition {

inline bool IsDataUrl(std::string_view url) { return url.starts_with("data:"); }

// Why this is no data URL, in Ignition's words; empty when it is one.  Looks at each byte once.
std::string DataUrlProblem(std::string_view url);

// The bytes that a data URL stands for.
Result<std::string> DecodeDataUrl(std::string_view url);

// The same, piece by piece.
Result<> WalkDataUrl(std::string_view url, const TakePiece& take);

// Percent-encoded, as "data:,...": all but letters, digits and -_.!~*'() are escaped.
std::string EncodeDataUrl(std::string_view bytes);

}  // namespace pintle::ignition
