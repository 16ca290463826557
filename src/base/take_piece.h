// SPDX-License-Identifier: Apache-2.0
#pragma once

// Bytes that are passed on in pieces, so that long contents are never in memory as a whole.

#include <functional>
#include <string_view>

#include "base/result.h"

namespace pintle {

// Receives a piece, which is valid during the call, and returns whether it wants more.
using TakePiece = std::function<Result<bool>(std::string_view piece)>;

// Passes all pieces of something to `take`, until `take` wants no more or fails.
using WalkPieces = std::function<Result<>(const TakePiece& take)>;

}  // namespace pintle
