// SPDX-License-Identifier: Apache-2.0
#pragma once

// Bytes that are handed on piece by piece, so that long contents never are in memory as a whole.

#include <functional>
#include <string_view>

#include "base/result.h"

namespace pintle {

// Takes a piece, which is valid during the call, and says whether it wants more.
using TakePiece = std::function<Result<bool>(std::string_view piece)>;

// Hands on all pieces of something, unless the one that takes them wants no more or fails.
using WalkPieces = std::function<Result<>(const TakePiece& take)>;

}  // namespace pintle
