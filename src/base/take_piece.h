// SPDX-License-Identifier: Apache-2.0
#pragma once

// Function types for passing on bytes in pieces, so that long contents are never in memory as a whole.

#include <functional>
#include <string_view>

#include "base/result.h"

namespace pintle {

// Receives a piece, which is valid during the call only, and returns whether it wants more pieces.
using TakePiece = std::function<Result<bool>(std::string_view piece)>;

// Passes all pieces of something to `take`, until `take` wants no more or fails.
using WalkPieces = std::function<Result<>(const TakePiece& take)>;

}  // namespace pintle
