// SPDX-License-Identifier: Apache-2.0
#include "change/others_access.h"

#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <climits>
#include <deque>
#include <filesystem>
#include <utility>

#include "base/link_limit.h"

namespace pintle::change {
namespace {

namespace fs = std::filesystem;

constexpr mode_t kOthersWrite = S_IWGRP | S_IWOTH;

// Puts the parts of `path` before those that are in `left` already.
void PrependPathParts(const fs::path& path, std::deque<std::string>& left) {
  std::deque<std::string> parts;
  for (const fs::path& part : path.relative_path()) {
    if (!part.empty() && part != ".") parts.push_back(part);
  }
  left.insert(left.begin(), parts.begin(), parts.end());
}

// Checks the entries on the way to a file, and the file itself, one after the other.
class EntryChecks {
 public:
  void Check(const std::string& place, const struct stat& status) {
    const bool is_directory = S_ISDIR(status.st_mode);
    if (status.st_uid != 0 && status.st_uid != ::geteuid()) {
      AddReason(
          fmt::format("{} belongs to the user {}; `chown --no-dereference root` changes that", place, status.st_uid));
    }
    if (S_ISLNK(status.st_mode)) return;  // The kernel ignores the mode of a link.
    // In a directory like /tmp others can make files, but cannot replace those of root.
    const bool is_shared = is_directory && (status.st_mode & S_ISVTX) != 0;
    if ((status.st_mode & kOthersWrite) != 0 && !is_shared) {
      AddReason(fmt::format("others than its owner may write {} (its mode is {:04o}); `chmod go-w` changes that", place,
                            status.st_mode & 07777));
    }
    if (is_directory) is_reachable_ = is_reachable_ && (status.st_mode & S_IXOTH) != 0;
    if (!is_directory) is_readable_ = (status.st_mode & S_IROTH) != 0;
  }

  OthersAccess access() && { return {std::move(why_), is_reachable_ && is_readable_}; }

 private:
  void AddReason(std::string why) {
    if (why_.empty()) why_ = std::move(why);
  }

  std::string why_;
  bool is_reachable_ = true;
  bool is_readable_ = false;
};

Result<std::string> TargetOf(const std::string& link) {
  std::string target(PATH_MAX, '\0');
  const ssize_t length = ::readlink(link.c_str(), target.data(), target.size());
  if (length < 0) return Error::FromErrno("readlink");
  target.resize(static_cast<std::size_t>(length));
  return target;
}

// Checks all entries on the way to the file, through links as well.
Result<OthersAccess> Follow(const std::string& path) {
  EntryChecks checks;
  std::deque<std::string> left;  // The parts of the path that were not followed yet.
  PrependPathParts(path, left);
  fs::path place = "/";
  struct stat status = {};
  if (::lstat(place.c_str(), &status) != 0) return Error::FromErrno("lstat");
  checks.Check(place, status);
  for (int links = 0; !left.empty();) {
    const std::string part = std::move(left.front());
    left.pop_front();
    if (part == "..") {
      place = place.parent_path();
      continue;
    }
    const std::string next = place / part;
    if (::lstat(next.c_str(), &status) != 0) return Error::FromErrno("lstat");
    checks.Check(next, status);
    if (!S_ISLNK(status.st_mode)) {
      place = next;
      continue;
    }
    if (++links > kMostLinks) return Error::FromErrno("following links", ELOOP);
    const fs::path target = TRY(TargetOf(next));
    if (target.is_absolute()) place = "/";
    PrependPathParts(target, left);
  }
  return std::move(checks).access();
}

}  // namespace

Result<OthersAccess> AccessOfOthersTo(const std::string& path) {
  return TRY(Follow(path), "checking who may write " + path);
}

Result<> CheckOnlyRootWrites(const std::string& path) { return CheckOnlyRootWrites(path, TRY(AccessOfOthersTo(path))); }

Result<> CheckOnlyRootWrites(const std::string& path, const OthersAccess& access) {
  if (access.why_writable.empty()) return {};
  return Error(ErrorKind::kInvalid,
               fmt::format("{} is not used, since users other than root may change it: {}", path, access.why_writable));
}

}  // namespace pintle::change
