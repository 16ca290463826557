// SPDX-License-Identifier: Apache-2.0
#pragma once

// Finds out whether users other than root may write or read a file that decides how root changes the machine.
//
// Whoever may write the file, or one of the directories and links on the way to it, decides what root does.

#include <string>

#include "base/result.h"

namespace pintle::change {

struct OthersAccess {
  // The reason why others may write the file, with the remedy; empty if they may not.  If there are several reasons,
  // this is the first on the way to the file.
  std::string why_writable;
  bool may_read = false;
};

// The user of this process counts as root.  The path must be absolute.
Result<OthersAccess> AccessOfOthersTo(const std::string& path);

// Returns an error with the reason and the remedy if others may write this file or directory.
Result<> CheckOnlyRootWrites(const std::string& path);
Result<> CheckOnlyRootWrites(const std::string& path, const OthersAccess& access);

}  // namespace pintle::change
