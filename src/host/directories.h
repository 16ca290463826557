// SPDX-License-Identifier: Apache-2.0
#pragma once

// Directories of the file tree, entered so that no user can lead us elsewhere.
//
// A path of a config may go through a directory that belongs to a user, who can rename what is in it, and put links and
// other things in its place, at any time.  So a path is followed name by name, each from the open directory before it,
// and a step that its owner may have chosen is judged by where it leads:
//
//     a directory in a directory of user U    must belong to U or to us; what U moves about is U's own
//     a link that U may have put there        is followed with U's rights, and must lead to a directory of U's
//     all else                                is ours to follow
//
// An open directory stays the one that was judged, whatever is done to the path that led there: all that is made, read,
// renamed and removed in it goes by its descriptor and one single name.  Nothing leads out of the root.

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

// Identifies a file or a directory on this machine, whatever name it has.
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

  // Whether users other than us can change which names are in it.
  bool IsShared() const { return is_shared_; }
  // For a shared directory: whether each user can rename and remove only what is their own.
  bool IsSticky() const { return is_sticky_; }

  // This directory, open for reading.
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

// Whether a thing of this owner is ours: root's, or of the user that runs this.
bool IsOurs(uid_t owner);

// An error if a file of this directory must not be read.  A user can give a file of someone else another name by a hard
// link, and would have us read what the user may not.
Result<> CheckReadable(const Directory& directory, const struct stat& file);

class Directories {
 public:
  using Shared = std::shared_ptr<const Directory>;

  // `root` must outlive it.
  explicit Directories(const Root& root) : root_(root) {}

  // Keeps directories open, so that each is looked up once.
  Result<Shared> Open(const std::string& path);

  // A new directory is made beside its place first, under another name in the same directory.  From Await() on, a path
  // through the place leads to it; Arrived() is for when it has been renamed.
  struct Place {
    Identity directory;
    std::string name;
    auto operator<=>(const Place&) const = default;
  };
  struct Waiting {
    std::vector<std::string> names;  // From the directory of the place on down.
    Identity identity;
  };
  void Await(const Place& place, Waiting waiting) { waiting_[place] = std::move(waiting); }
  void Arrived(const Place& place) { waiting_.erase(place); }

  // This path, and all below it, is looked up again.
  void Forget(const std::string& path);
  void ForgetAll() { open_.clear(); }

 private:
  Result<Shared> Top();
  Result<Shared> Enter(const Shared& at, const std::string& name, std::string path, int& links);
  Result<Shared> EnterWaiting(const Shared& at, const Waiting& waiting, std::string path) const;
  Result<Shared> FollowLink(const Shared& at, const std::string& name, const std::string& path, int& links);
  Result<Shared> FollowTarget(Shared at, const std::string& target, int& links);

  const Root& root_;
  std::map<std::string, Shared> open_;
  std::map<Place, Waiting> waiting_;
};

// The names in an open directory, which may be open as a place only (O_PATH).
Result<std::vector<std::string>> ListOpen(const UniqueFd& directory);

// A regular file that a config names, open for reading; anything else there is an error.
Result<UniqueFd> OpenToRead(const Root& root, const std::string& path);
// The whole of it.  One longer than `limit` is an error.
Result<std::string> ReadWhole(const Root& root, const std::string& path, std::size_t limit = Root::kReadLimit);

}  // namespace pintle::host
