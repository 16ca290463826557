// SPDX-License-Identifier: Apache-2.0
#pragma once

// What others than root may do with a file that says what the machine is to be.
//
// Who may write it, or one of the directories and links by which it is found, decides what root does.

#include <string>

#include "base/result.h"

namespace pintle::change {

struct OthersAccess {
  // Why others may write it, with the remedy; empty: they may not.  Of several reasons the first on the way there.
  std::string how_to_write;
  bool may_read = false;
};

// Whoever runs this counts as root.  The path is an absolute one.
Result<OthersAccess> AccessOfOthersTo(const std::string& path);

}  // namespace pintle::change
