// SPDX-License-Identifier: Apache-2.0
#pragma once

// Opens directories of the file tree so that no user can redirect us.
//
// A path of a config may go through a directory of a user.  The user can rename the entries in it, or replace them by
// links and other things, at any time.  So we follow a path name by name, and open each name in the open directory
// above it.  Where a user U may have put the next entry of the path, that entry is checked:
//
//     a directory in a directory of U          must belong to U or to us, and not to another user
//     a link that U may have put there         is followed with U's rights, and must lead to a directory of U
//     a link that any user may have put there  is an error
//     any other directory or link              is followed with our rights
//
// An open directory stays the directory that was checked, whatever others do to its path.  So everything that is made,
// read, renamed and removed in it is addressed by its descriptor and a single name.  Nothing leads out of the root.

#include <sys/stat.h>
#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/root.h"
#include "base/unique_fd.h"

namespace pintle::host {

// Identifies a file or a directory on this machine, whatever its name.
struct Identity {
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
  auto operator<=>(const Identity&) const = default;
};

// An open directory.
class Directory {
 public:
  // `fd` must have been opened with O_PATH.
  static Result<std::shared_ptr<const Directory>> Of(UniqueFd fd, std::string path,
                                                     std::shared_ptr<const Directory> above);

  int fd() const { return fd_.get(); }
  const std::string& path() const { return path_; }
  const Identity& identity() const { return identity_; }
  const Owner& owner() const { return owner_; }
  std::uint64_t attributes() const { return attributes_; }  // STATX_ATTR_...
  const std::shared_ptr<const Directory>& above() const { return above_; }

  // Returns whether users other than us can add, rename or remove entries of this directory.
  bool IsShared() const { return is_shared_; }
  // Returns whether users can rename and remove only their own entries, if this directory is shared.
  bool IsSticky() const { return is_sticky_; }

  // Opens this directory for reading.
  Result<UniqueFd> OpenToRead() const;

 private:
  Directory() = default;

  UniqueFd fd_;
  std::string path_;
  std::shared_ptr<const Directory> above_;
  Identity identity_;
  Owner owner_;
  std::uint64_t attributes_ = 0;
  bool is_shared_ = false;
  bool is_sticky_ = false;
};

// Returns whether the owner is root or the user that runs this program.
bool IsOurs(uid_t owner);

// Returns an error if a user may have hard-linked someone else's file into this directory.  Otherwise, the user could
// make us read a file that the user may not read.
Result<> CheckReadable(const Directory& directory, const struct stat& file);

class Directories {
 public:
  using DirectoryPtr = std::shared_ptr<const Directory>;

  // `root` must outlive this object.
  explicit Directories(const Root& root) : root_(root) {}

  // Opens a directory.  It stays open, so that each path is looked up only once.
  Result<DirectoryPtr> Open(const std::string& path);

  // A new directory is made under a temporary name, and renamed to its place later.  Between AddNewDirectory() and
  // ForgetNewDirectory(), paths through the place lead to the new directory.  The caller calls ForgetNewDirectory()
  // after the rename.
  struct Place {
    Identity directory;
    std::string name;
    auto operator<=>(const Place&) const = default;
  };
  struct NewDirectory {
    std::vector<std::string> names;  // The names that lead from the place's directory to the new directory.
    Identity identity;
  };
  void AddNewDirectory(const Place& place, NewDirectory made) { new_directories_[place] = std::move(made); }
  void ForgetNewDirectory(const Place& place) { new_directories_.erase(place); }

  // Closes this path and all paths below it, so that they are looked up again.
  void Forget(const std::string& path);
  void ForgetAll() { open_.clear(); }

 private:
  Result<DirectoryPtr> Top();
  Result<DirectoryPtr> Enter(const DirectoryPtr& at, const std::string& name, std::string path, int& links);
  Result<DirectoryPtr> EnterNewDirectory(const DirectoryPtr& at, const NewDirectory& made, std::string path) const;
  Result<DirectoryPtr> FollowLink(const DirectoryPtr& at, const std::string& name, const std::string& path, int& links);
  Result<DirectoryPtr> FollowTarget(DirectoryPtr at, const std::string& target, int& links);

  const Root& root_;
  std::map<std::string, DirectoryPtr> open_;
  std::map<Place, NewDirectory> new_directories_;
};

// Returns the names in an open directory, even if it was opened with O_PATH.
Result<std::vector<std::string>> ListOpen(const UniqueFd& directory);

// Opens a regular file that a config names.  If the path leads to anything else, that is an error.
Result<UniqueFd> OpenToRead(const Root& root, const std::string& path);
// Returns the target of an opened link.
Result<std::string> TargetOf(int link);

// Returns the contents of a regular file that a config names.  A file longer than `limit` is an error.
Result<std::string> ReadWhole(const Root& root, const std::string& path, std::size_t limit = Root::kReadLimit);

}  // namespace pintle::host
