// SPDX-License-Identifier: Apache-2.0
#pragma once

// Reads the directory with the configs of a machine without a cluster, on a worker's thread.
//
// A machine loses its config when nobody gives it one any more, so "there is none" must never be concluded from "it
// cannot be seen".  A link that leads nowhere, a file system that is not mounted yet, and a file that cannot be read
// are errors, with which the machine keeps what it has.  The machine has no configs only if the parent directory exists
// and has no entry with the directory's name.

#include <string>
#include <vector>

#include "base/result.h"
#include "change/local_configs.h"

namespace pintle::agent {

struct ConfigDirectory {
  bool is_there = false;
  std::vector<change::WrittenConfig> configs;
  // They name the entries that were left out, and the secrets that every user may read.
  std::vector<std::string> warnings;
};

// Refuses the directory and configs that others than root may write.
Result<ConfigDirectory> ReadConfigDirectory(const std::string& directory);

// Returns whether the directory exists.  If its parent directory does not exist either, the error is kNotFound.
Result<bool> IsThere(const std::string& directory);

// Returns an error if others than root may write this file or directory, which root relies on.
Result<> CheckFile(const std::string& path);

// Returns the targets of the directory's links, link by link, whether or not they exist.  A watch of the directory
// would not notice changes at those places.
std::vector<std::string> PlacesBehindLinks(const std::string& directory);

}  // namespace pintle::agent
