// SPDX-License-Identifier: Apache-2.0
#pragma once

// Where a file is not what it should be, in one line for people.
//
// However long the file and what it should be are, a piece of each is in memory at a time.  Secrets are masked; but
// what is shown are contents still, which are for whoever may read the file, and for no log.

#include <string>

#include "base/result.h"
#include "base/root.h"
#include "base/take_piece.h"

namespace pintle::change {

// `line 3: expected "a = 1", is "a = 2"`; empty when there is no difference.
Result<std::string> FirstDifference(const Root& root, const std::string& path, const WalkPieces& expected);

}  // namespace pintle::change
