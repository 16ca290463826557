// SPDX-License-Identifier: Apache-2.0
#pragma once

// A directory that is the root of a file tree.
//
// Every path that comes from a config is looked up below a Root, by openat2(RESOLVE_IN_ROOT): an absolute symlink or a
// ".." leads back into the root and never out of it.  Production opens "/", tests open a temporary directory, and the
// initramfs opens "/sysroot".  Whatever a Root writes, links, makes or removes is durable when the call returns.  After
// a power cut, a file has its old or its new contents, and never a mixture.

#include <sys/stat.h>
#include <sys/types.h>

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"

namespace pintle {

struct Owner {
  uid_t uid = 0;
  gid_t gid = 0;
  bool operator==(const Owner&) const = default;
};

struct FileMode {
  mode_t permissions = 0644;   // Includes set-user-id, set-group-id and sticky.
  std::optional<Owner> owner;  // If unset, new files belong to the user who runs the program.
};

class Root {
 public:
  static Result<Root> Open(const std::string& path);

  // Opens `path` as open(2) would; O_CLOEXEC is added.  A symlink as the last part is followed, within the root, unless
  // `flags` has O_NOFOLLOW.
  Result<UniqueFd> OpenFile(std::string_view path, int flags, mode_t mode = 0) const;

  // Returns the contents of a regular file.  A file longer than `limit` is an error, so that it cannot use up the
  // memory.
  Result<std::string> ReadFile(std::string_view path, std::size_t limit = kReadLimit) const;

  // Returns the target of a symlink.  Anything else at the path is an error.
  Result<std::string> ReadLink(std::string_view path) const;

  // Returns the path of an existing thing without symlinks on the way or at its end, such as "/var/home" for "/home".
  Result<std::string> RealPath(std::string_view path) const;

  // Returns the result of lstat(2), or nullopt if the name does not exist.
  Result<std::optional<struct stat>> Status(std::string_view path) const;

  // Returns the names in a directory, sorted, without "." and "..".
  Result<std::vector<std::string>> List(std::string_view path) const;

  // Replaces whatever is at the path by a regular file with these contents and this mode.  A directory at the path is
  // an error, and so are contents longer than kReadLimit.  The parent directory must exist.
  Result<> WriteFile(std::string_view path, std::string_view contents, const FileMode& mode = {}) const;

  // Replaces whatever is at the path by a symlink.  A directory at the path is an error.  The parent directory must
  // exist.
  Result<> WriteLink(std::string_view path, const std::string& target) const;

  // Makes a directory and its missing parents.  Directories that exist keep their mode and owner.
  Result<> MakeDirectories(std::string_view path, const FileMode& mode = {.permissions = 0755, .owner = {}}) const;

  // Removes a file, a symlink or an empty directory.  It is no error if the path does not exist.
  Result<> Remove(std::string_view path) const;

  static constexpr std::size_t kReadLimit = 64 << 20;

 private:
  explicit Root(UniqueFd directory) : directory_(std::move(directory)) {}

  UniqueFd directory_;
};

// Returns the temporary name under which an entry is written before it is renamed to `name` in the same directory.  The
// temporary name is computed from `name` alone, so the next write or removal of `name` finds and removes an
// entry that a crash has left.  All temporary names begin with ".pintle-", and no other names do.
std::string TemporaryNameOf(std::string_view name);
// Returns whether a name is a temporary name of any entry.
bool IsTemporaryName(std::string_view name);

// Removes the entry that an interrupted write of `name` has left under TemporaryNameOf(name) in an open directory: a
// file, a link, or a directory that contains only temporary names.  Directories that are nested more than 250 deep are
// a conflict.
Result<> ClearTemporaryName(int directory, std::string_view name);

}  // namespace pintle
