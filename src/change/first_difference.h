// SPDX-License-Identifier: Apache-2.0
#pragma once

// Where a file is not what it should be, in one line for people.
//
// However long the file is, a piece of it is in memory at a time.  Secrets are masked; but what is shown are contents
// still, which are for whoever may read the file, and for no log.

#include <string>
#include <string_view>

#include "base/result.h"
#include "base/root.h"

namespace pintle::change {

// `line 3: expected "a = 1", is "a = 2"`; empty when there is no difference.
Result<std::string> FirstDifference(const Root& root, const std::string& path, std::string_view expected);

}  // namespace pintle::change
