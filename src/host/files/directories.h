// SPDX-License-Identifier: Apache-2.0
#pragma once

// Opens directories of the file tree so that no user can redirect us.
//
// A path of a config may go through a directory that belongs to a user, who can rename what is in it, and replace it
// by links and other things, at any time.  So a path is followed name by name, each from the open directory before
// it, and a step that the owner may have chosen is judged by its target:
//
//     a directory in a directory of user U    must belong to U or to us; U may move U's own directories
//     a link that U may have put there        is followed with U's rights, and must lead to a directory of U's
//     anything else                           is ours to follow
//
// An open directory stays the one that was judged, whatever is done to the path that led there: everything that is
// made, read, renamed and removed in it is addressed by its descriptor and a single name.  Nothing leads out of the
// root.

#include <sys/stat.h>
#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
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

  // Returns whether users other than us can add, rename or remove names in it.
  bool IsShared() const { return is_shared_; }
  // Returns whether users can rename and remove only what is their own in a shared directory.
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

// Returns an error if a file in this directory must not be read.  A user can hard-link someone else's file into a
// directory, and would have us read what the user may not.
Result<> CheckReadable(const Directory& directory, const struct stat& file);

class Directories {
 public:
  using Shared = std::shared_ptr<const Directory>;

  // `root` must outlive it.
  explicit Directories(const Root& root) : root_(root) {}

  // Keeps directories open, so that each is looked up once.
  Result<Shared> Open(const std::string& path);

  // A new directory is first made beside its place, under another name in the same directory.  From Await() on, paths
  // through the place lead to it; Arrived() is called after it was renamed.
  struct Place {
    Identity directory;
    std::string name;
    auto operator<=>(const Place&) const = default;
  };
  struct AwaitedDirectory {
    std::vector<std::string> names;  // The way from the directory that has the place.
    Identity identity;
  };
  void Await(const Place& place, AwaitedDirectory waiting) { waiting_[place] = std::move(waiting); }
  void Arrived(const Place& place) { waiting_.erase(place); }

  // Makes this path, and all below it, be looked up again.
  void Forget(const std::string& path);
  void ForgetAll() { open_.clear(); }

 private:
  Result<Shared> Top();
  Result<Shared> Enter(const Shared& at, const std::string& name, std::string path, int& links);
  Result<Shared> EnterWaiting(const Shared& at, const AwaitedDirectory& waiting, std::string path) const;
  Result<Shared> FollowLink(const Shared& at, const std::string& name, const std::string& path, int& links);
  Result<Shared> FollowTarget(Shared at, const std::string& target, int& links);

  const Root& root_;
  std::map<std::string, Shared> open_;
  std::map<Place, AwaitedDirectory> waiting_;
};

// Returns the names in an open directory, which may be open with O_PATH.
Result<std::vector<std::string>> ListOpen(const UniqueFd& directory);

// Opens a regular file that a config names; anything else there is an error.
Result<UniqueFd> OpenToRead(const Root& root, const std::string& path);
// Returns the target of an opened link.
Result<std::string> TargetOf(int link);

// Returns the contents of such a file.  A file longer than `limit` is an error.
Result<std::string> ReadWhole(const Root& root, const std::string& path, std::size_t limit = Root::kReadLimit);

}  // namespace pintle::host
