// SPDX-License-Identifier: Apache-2.0
#pragma once

// Finds out what others than root may do with a file that decides what the machine is to be.
//
// Whoever may write it, or one of the directories and links on the way to it, decides what root does.

#include <string>

#include "base/result.h"

namespace pintle::change {

struct OthersAccess {
  // Why others may write it, with the remedy; empty if they may not.  Of several reasons this is the first on the way
  // to the file.
  std::string how_to_write;
  bool may_read = false;
};

// The user who runs this counts as root.  The path must be absolute.
Result<OthersAccess> AccessOfOthersTo(const std::string& path);

}  // namespace pintle::change
