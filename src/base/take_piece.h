// SPDX-License-Identifier: Apache-2.0
#pragma once

// Function types for passing on bytes in pieces, so that long contents are never in memory as a whole.

#include <functional>
#include <string_view>

#include "base/result.h"

namespace pintle {

// Takes a piece and returns whether it wants more pieces.  The piece is valid during the call only.
using TakePiece = std::function<Result<bool>(std::string_view piece)>;

// Passes the pieces of some contents to `take`, until there are no more, or `take` returns false or fails.
using WalkPieces = std::function<Result<>(const TakePiece& take)>;

}  // namespace pintle
