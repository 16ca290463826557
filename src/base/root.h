// SPDX-License-Identifier: Apache-2.0
#pragma once

// A directory that is the root of a file tree.
//
// Every path that comes from a config is looked up below a Root, by openat2(RESOLVE_IN_ROOT): an absolute symlink or a
// ".." leads back into the root and never out of it.  Production opens "/", tests a temporary directory, the initramfs
// "/sysroot".  What is written here is durable when the call returns: after a power cut a file is the old one or the
// new one, whole.

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
  mode_t permissions = 0644;   // With set-user-id, set-group-id and sticky.
  std::optional<Owner> owner;  // Without one, new things belong to the user who runs the program.
};

class Root {
 public:
  static Result<Root> Open(const std::string& path);

  // Opens `path` as open(2) would; O_CLOEXEC is added.  A symlink as the last part is followed, within the root, unless
  // `flags` has O_NOFOLLOW.
  Result<UniqueFd> OpenFile(std::string_view path, int flags, mode_t mode = 0) const;

  // Returns the contents of a file.  A file longer than `limit` is an error, so that none can use up the memory.
  Result<std::string> ReadFile(std::string_view path, std::size_t limit = kReadLimit) const;

  Result<std::string> ReadLink(std::string_view path) const;

  // Returns the path of an existing thing without symlinks on the way or at its end, such as "/var/home" for "/home".
  Result<std::string> RealPath(std::string_view path) const;

  // Returns the result of lstat(2), or nullopt if the name does not exist.
  Result<std::optional<struct stat>> Status(std::string_view path) const;

  // Returns the names in a directory, sorted, without "." and "..".
  Result<std::vector<std::string>> List(std::string_view path) const;

  // Puts a regular file with these contents and this mode in the place of whatever is there; a directory there is an
  // error.  The parent directory must exist.
  Result<> WriteFile(std::string_view path, std::string_view contents, const FileMode& mode = {}) const;

  // Puts a symlink in the place of whatever is there, as WriteFile() does.
  Result<> WriteLink(std::string_view path, const std::string& target) const;

  // Makes a directory and those above it that are missing.  What exists is left as it is.
  Result<> MakeDirectories(std::string_view path, const FileMode& mode = {.permissions = 0755, .owner = {}}) const;

  // Removes a file, a symlink or an empty directory.  It is no error if nothing is there.
  Result<> Remove(std::string_view path) const;

  static constexpr std::size_t kReadLimit = 64 << 20;

 private:
  explicit Root(UniqueFd directory) : directory_(std::move(directory)) {}

  UniqueFd directory_;
};

// Returns the temporary name, beside its place, of a thing that is being written.  It is computed from the place's own
// name, so the next write or removal at that place finds and removes what a crash has left.  No other thing has such a
// name.
std::string NameBeside(std::string_view name);
bool IsNameBeside(std::string_view name);

// Removes what an attempt that was cut short left beside the name in an open directory: a file, a link, or a
// directory that holds nothing but such leftovers.
Result<> ClearBeside(int directory, std::string_view name);

}  // namespace pintle
