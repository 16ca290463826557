// SPDX-License-Identifier: Apache-2.0
#pragma once

// The directories in which new things lie until they are moved to their places, and old things until they are removed.
//
// If only we can change the names in a directory, both lie there, beside their places.  If others can, they could put a
// thing of theirs under our temporary name.  Then new and old things lie in a directory of our own inside the
// directory; nobody else may enter it, and one rename moves a thing from it to its place.

#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"
#include "host/files/directories.h"

namespace pintle::host {

class Stages {
 public:
  // Returns the open stage for this directory, which is valid until the next call.
  Result<int> For(const Directory& directory);

  // Removes what a crash has left in a directory that has no stage yet.
  static Result<> ClearLeftover(const Directory& directory);

  // Removes the stage that was made in the directory, if it is empty.
  void RemoveFrom(const Directory& directory);

  // The directories that have a stage made by us, with their paths.
  const std::map<Identity, std::string>& all() const { return paths_; }

  // Returns the names that lead from the directory to where a thing lies.
  static std::vector<std::string> NamesTo(const Directory& directory, const std::string& beside);

 private:
  Result<UniqueFd> Make(const Directory& directory);
  Result<UniqueFd> OpenAgain(const Directory& directory, const Identity& made);

  std::map<Identity, std::string> paths_;
  std::map<Identity, Identity> made_;
  std::map<Identity, UniqueFd> open_;
};

}  // namespace pintle::host
