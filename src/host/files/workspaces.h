// SPDX-License-Identifier: Apache-2.0
#pragma once

// Chooses the directory for temporary names.  A new entry has a temporary name until it is moved to its place, and an
// old entry has one until it is removed.
//
// If only we can change the names in a directory, the temporary names are in that directory itself.  If others can
// change them, they could put an entry of theirs under a temporary name.  So the temporary names are in a workspace in
// this case: a directory of our own inside that directory, which nobody else may enter.  One rename moves an entry from
// there to its place.
//
// A workspace has the same name after a crash, so that the next change removes it.  If someone else has an entry of
// that name, the entry stays, and the workspace gets a random name.

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"
#include "host/files/directories.h"

namespace pintle::host {

class Workspaces {
 public:
  // Returns the open directory with the temporary names of this directory.  It is valid until the next call.
  Result<int> For(const Directory& directory);

  // Removes what a crash has left for `name` in a directory: the entry with its temporary name, and the workspace if
  // none is in use.  Something that others have put there, and that cannot be removed, stays.
  Result<> ClearLeftovers(const Directory& directory, std::string_view name) const;

  // Removes the directory's workspace, if it is empty.
  void RemoveFrom(const Directory& directory);

  // Returns the directories that have a workspace, with their paths.
  const std::map<Identity, std::string>& all() const { return paths_; }

  // Returns the names that lead from the directory to the entry with the temporary name `beside`.  For() must have been
  // called for the directory.
  std::vector<std::string> NamesTo(const Directory& directory, const std::string& beside) const;

 private:
  struct Made {
    std::string name;
    Identity identity;
  };

  Result<UniqueFd> Make(const Directory& directory);
  static Result<UniqueFd> OpenAgain(const Directory& directory, const Made& made);

  // The keys of these maps are the directories that contain the workspaces.
  std::map<Identity, std::string> paths_;  // The paths of these directories.
  std::map<Identity, Made> made_;          // The workspaces.
  std::map<Identity, UniqueFd> open_;      // The open workspaces.
};

}  // namespace pintle::host
