// SPDX-License-Identifier: Apache-2.0
#pragma once

// The directory with the configs of a machine without a cluster, for the worker's thread.
//
// A machine loses its config when nobody gives it one any more, and so "there is none" must never be concluded from
// "it cannot be seen": a link that leads nowhere, a file system that is not mounted yet, a file that cannot be read are
// errors, with which the machine keeps what it has.  Only a name that is free in the directory that would have it means
// that there are no configs.

#include <string>
#include <vector>

#include "base/result.h"
#include "change/local_configs.h"

namespace pintle::agent {

struct ConfigDirectory {
  bool is_there = false;
  std::vector<change::WrittenConfig> configs;
  std::vector<std::string> warnings;  // What was left out, and which secrets others may read.
};

// A config is refused that others than root may write.
Result<ConfigDirectory> ReadConfigDirectory(const std::string& directory);

// A directory that is not there, in one that is: kNotFound if that is not there either.
Result<bool> IsThere(const std::string& directory);

// A file or directory that root goes by, which must be only root's to write.
Result<> CheckFile(const std::string& path);

// Where the links in a directory lead to, one after the other, whether or not there is something: what happens there is
// not seen in the directory.
std::vector<std::string> PlacesBehindLinks(const std::string& directory);

}  // namespace pintle::agent
