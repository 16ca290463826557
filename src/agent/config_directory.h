// SPDX-License-Identifier: Apache-2.0
#pragma once

// Reads the directory with the configs of a machine without a cluster, on a worker's thread.
//
// If the directory has no configs, the agent undoes everything that earlier configs have changed.  So a directory that
// cannot be read must never count as one without configs.  A link that leads nowhere, a file system that is not mounted
// yet, and a file that cannot be read are errors, after which the machine keeps its config.  A missing directory means
// "no configs" only if its parent directory exists.

#include <string>
#include <vector>

#include "base/result.h"
#include "change/local_configs.h"

namespace pintle::agent {

struct ConfigDirectory {
  bool is_there = false;
  std::vector<change::WrittenConfig> configs;
  // Warnings about entries that were left out, and about secrets that every user may read.
  std::vector<std::string> warnings;
};

// Returns an error if the directory or a config cannot be read, or if users other than root may write one of them.
Result<ConfigDirectory> ReadConfigDirectory(const std::string& directory);

// Returns whether the directory exists.  If its parent directory does not exist either, the error is kNotFound.
Result<bool> DirectoryExists(const std::string& directory);

// Follows the links in the directory that are named like configs, and returns all paths along the way, whether or not
// they exist.  A watch of the directory alone would not notice changes of these paths.
std::vector<std::string> PlacesBehindLinks(const std::string& directory);
// Does the same for one path, which need not be a link.
std::vector<std::string> PlacesBehindLink(const std::string& path);

}  // namespace pintle::agent
