// SPDX-License-Identifier: Apache-2.0
#pragma once

// Describes in one line where a file first differs from the contents that it should have.
//
// Only a piece of the file and a piece of the expected contents are in memory at a time.  Secrets are masked.  But the
// text still holds contents of the file, so it is only for people who may read the file, and must not be logged.

#include <string>

#include "base/result.h"
#include "base/root.h"
#include "base/take_piece.h"

namespace pintle::change {

// Returns a text such as `line 3: expected "a = 1", found "a = 2"`; empty when there is no difference.
Result<std::string> FirstDifference(const Root& root, const std::string& path, const WalkPieces& expected);

}  // namespace pintle::change
