// SPDX-License-Identifier: Apache-2.0
#pragma once

// Where what is made waits until it goes to its place, and what was there until it is removed.
//
// That is beside the place, in the same directory, if only we can change the names in it.  In one where others can,
// they could put a thing of theirs under the name of ours: there it is a directory of our own within that one, which
// nobody else may enter, and from which a thing gets to its place by one rename.

#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"
#include "host/directories.h"

namespace pintle::host {

class Stages {
 public:
  // The open directory in which things for this one wait, good until the next call.
  Result<int> For(const Directory& directory);

  // What a crash has left in a directory of which nothing was asked yet.
  static Result<> ClearLeftover(const Directory& directory);

  // Takes away the one that was made there, if it is empty.
  void RemoveFrom(const Directory& directory);

  // The directories in which there are some, with their paths.
  const std::map<Identity, std::string>& all() const { return paths_; }

  // Below the directory that has it, down to where things wait.
  static std::vector<std::string> NamesTo(const Directory& directory, const std::string& beside);

 private:
  Result<UniqueFd> Make(const Directory& directory);
  Result<UniqueFd> OpenAgain(const Directory& directory, const Identity& made);

  std::map<Identity, std::string> paths_;
  std::map<Identity, Identity> made_;
  std::map<Identity, UniqueFd> open_;
};

}  // namespace pintle::host
