// SPDX-License-Identifier: Apache-2.0
#include "host/files/directories.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/sysmacros.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <climits>
#include <string_view>
#include <utility>

#include "base/link_limit.h"
#include "base/names_in.h"
#include "host/files/acting_as.h"
#include "host/files/files.h"
#include "host/files/pieces.h"

namespace pintle::host {
namespace {

// The maximum number of directories that stay open.  A change that needs more opens some directories again.
constexpr std::size_t kMostDirectoriesOpen = 128;

// The group with which we act for a user.  The user's own groups are not known, so the rights of a group do not count.
constexpr gid_t kNobody = 65534;

Result<struct statx> StatxOf(int fd) {
  struct statx status = {};
  if (::statx(fd, "", AT_EMPTY_PATH | AT_NO_AUTOMOUNT, STATX_BASIC_STATS, &status) != 0) {
    return Error::FromErrno("statx");
  }
  return status;
}

// If there is an access list, the group's permissions are the upper limit for all users and groups in the list.
bool MayHaveAccessList(int fd) {
  const std::string path = fmt::format("/proc/self/fd/{}", fd);
  const ssize_t length = ::getxattr(path.c_str(), "system.posix_acl_access", nullptr, 0);
  return length >= 0 || (errno != ENODATA && errno != ENOTSUP);
}

bool CanBeChangedByOthers(int fd, const struct statx& status) {
  if (!IsOurs(status.stx_uid) || (status.stx_mode & S_IWOTH) != 0) return true;
  if ((status.stx_mode & S_IWGRP) == 0) return false;
  return (status.stx_gid != 0 && status.stx_gid != ::getegid()) || MayHaveAccessList(fd);
}

// Returns an error if the owner of the directory `at` may have put someone else's directory into it.
Result<> CheckNextDirectory(const Directory& at, const Directory& next) {
  if (!at.IsShared() || IsOurs(at.owner().uid) || IsOurs(next.owner().uid)) return {};
  if (next.owner().uid == at.owner().uid) return {};
  return Error(ErrorKind::kConflict,
               fmt::format("the directory {} belongs to user {}, and is in one of user {}, who may have put it there; "
                           "give both directories to one of these users with `chown`",
                           next.path(), next.owner().uid, at.owner().uid));
}

// The user who may have made a link or moved it to its place.
struct Maker {
  bool is_known = true;       // False if it may have been any user.
  std::optional<uid_t> user;  // nullopt if only we can have made or moved the link.
};

Maker MakerOf(const Directory& at, const struct statx& link) {
  if (!at.IsShared())
    return {.is_known = true, .user = IsOurs(link.stx_uid) ? std::nullopt : std::optional(link.stx_uid)};
  if (!IsOurs(at.owner().uid)) return {.is_known = true, .user = at.owner().uid};
  if (!IsOurs(link.stx_uid)) return {.is_known = true, .user = link.stx_uid};
  return {.is_known = at.IsSticky() && link.stx_nlink == 1, .user = std::nullopt};
}

Error UnsafeLink(const std::string& path, const std::string& maker, const std::string& target) {
  return Error(ErrorKind::kConflict, fmt::format("the link {}, which {} may have put there, leads to {}; put a "
                                                 "directory in its place",
                                                 path, maker, target));
}

std::string Below(const std::string& directory, std::string_view name) {
  return fmt::format("{}/{}", directory == "/" ? "" : directory, name);
}

}  // namespace

bool IsOurs(uid_t owner) { return owner == 0 || owner == ::geteuid(); }

Result<> CheckReadable(const Directory& directory, const struct stat& file) {
  if (!directory.IsShared() || !S_ISREG(file.st_mode) || file.st_nlink <= 1) return {};
  if (file.st_uid == directory.owner().uid && !IsOurs(file.st_uid)) return {};
  return Error(ErrorKind::kConflict,
               fmt::format("it has other names (hard links) and belongs to user {}, and another user may have put it "
                           "into {}; put a copy in its place",
                           file.st_uid, directory.path()));
}

Result<std::shared_ptr<const Directory>> Directory::Of(UniqueFd fd, std::string path,
                                                       std::shared_ptr<const Directory> above) {
  const struct statx status = TRY(StatxOf(fd.get()));
  std::shared_ptr<Directory> directory(new Directory);
  directory->is_shared_ = CanBeChangedByOthers(fd.get(), status);
  directory->is_sticky_ = (status.stx_mode & S_ISVTX) != 0;
  directory->fd_ = std::move(fd);
  directory->path_ = std::move(path);
  directory->above_ = std::move(above);
  directory->identity_ = {gnu_dev_makedev(status.stx_dev_major, status.stx_dev_minor), status.stx_ino};
  directory->owner_ = {status.stx_uid, status.stx_gid};
  directory->attributes_ = status.stx_attributes;
  return std::shared_ptr<const Directory>(std::move(directory));
}

Result<UniqueFd> Directory::OpenToRead() const {
  UniqueFd readable(::openat(fd_.get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!readable) return Error::FromErrno("opening the directory " + path_);
  return readable;
}

Result<Directories::DirectoryPtr> Directories::Open(const std::string& path) {
  const auto found = open_.find(path);
  if (found != open_.end()) return found->second;
  const std::string above = DirectoryAbove(path);
  DirectoryPtr directory;
  if (above == path || path.empty()) {
    directory = TRY(Top());
  } else {
    int links = 0;
    const std::string name = path.substr(path.rfind('/') + 1);
    directory = TRY(Enter(TRY(Open(above)), name, path, links));
  }
  if (open_.size() >= kMostDirectoriesOpen) open_.clear();
  open_.emplace(path, directory);
  return directory;
}

void Directories::Forget(const std::string& path) {
  open_.erase(path);
  const std::string inside = path + "/";
  auto next = open_.lower_bound(inside);
  while (next != open_.end() && next->first.starts_with(inside)) next = open_.erase(next);
}

Result<Directories::DirectoryPtr> Directories::Top() {
  UniqueFd top = TRY(root_.OpenFile("/", O_PATH | O_DIRECTORY));
  return Directory::Of(std::move(top), "/", nullptr);
}

Result<Directories::DirectoryPtr> Directories::Enter(const DirectoryPtr& at, const std::string& name, std::string path,
                                                     int& links) {
  if (name.empty() || name == ".") return at;
  if (name == "..") return at->above() == nullptr ? at : at->above();
  if (!new_directories_.empty()) {
    const auto made = new_directories_.find({at->identity(), name});
    if (made != new_directories_.end()) return EnterNewDirectory(at, made->second, std::move(path));
  }
  UniqueFd next(::openat(at->fd(), name.c_str(), O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!next && (errno == ENOTDIR || errno == ELOOP)) return FollowLink(at, name, path, links);
  if (!next) return Error::FromErrno("open").While("opening the directory " + path);
  DirectoryPtr directory = TRY(Directory::Of(std::move(next), std::move(path), at));
  TRY(CheckNextDirectory(*at, *directory));
  return directory;
}

// Someone may exchange the names at any time.  So the identity of the opened directory is compared with that of the
// directory that was made.
Result<Directories::DirectoryPtr> Directories::EnterNewDirectory(const DirectoryPtr& at, const NewDirectory& made,
                                                                 std::string path) const {
  UniqueFd next;
  for (const std::string& name : made.names) {
    const int from = next ? next.get() : at->fd();
    UniqueFd entered(::openat(from, name.c_str(), O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    if (!entered) return Error::FromErrno("open").While("opening the new directory " + path);
    next = std::move(entered);
  }
  DirectoryPtr directory = TRY(Directory::Of(std::move(next), std::move(path), at));
  if (directory->identity() == made.identity) return directory;
  return Error(ErrorKind::kConflict, fmt::format("someone has replaced the new directory {}", directory->path()));
}

Result<Directories::DirectoryPtr> Directories::FollowLink(const DirectoryPtr& at, const std::string& name,
                                                          const std::string& path, int& links) {
  const auto doing = [&] { return "opening the directory " + path; };
  const UniqueFd link(::openat(at->fd(), name.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC));
  if (!link) return Error::FromErrno("open").While(doing());
  const struct statx status = TRY(StatxOf(link.get()));
  if (!S_ISLNK(status.stx_mode)) return Error::FromErrno("open", ENOTDIR).While(doing());
  if (++links > kMostLinks) return Error::FromErrno("open", ELOOP).While(doing());
  const Maker maker = MakerOf(*at, status);
  const std::string target = TRY(TargetOf(link.get()), doing());
  if (!maker.is_known) return UnsafeLink(path, "any user that can write to " + at->path(), target);
  if (!maker.user) return FollowTarget(at, target, links);
  const std::string whose = fmt::format("user {}", *maker.user);
  const auto follow_as_maker = [&]() -> Result<DirectoryPtr> {
    const auto acting = TRY(ActingAs::Begin({*maker.user, kNobody}), doing());
    return FollowTarget(at, target, links);
  };
  Result<DirectoryPtr> target_directory = follow_as_maker();
  if (!target_directory && target_directory.error().errno_value() == EACCES)
    return UnsafeLink(path, whose, "where that user may not go");
  if (!target_directory) return std::move(target_directory).error();
  const Directory& reached = **target_directory;
  if (reached.owner().uid == *maker.user) return target_directory;
  return UnsafeLink(path, whose, fmt::format("{}, which belongs to user {}", reached.path(), reached.owner().uid));
}

Result<Directories::DirectoryPtr> Directories::FollowTarget(DirectoryPtr at, const std::string& target, int& links) {
  if (target.starts_with('/')) {
    while (at->above() != nullptr) at = at->above();
  }
  for (std::size_t begin = 0; begin < target.size();) {
    const std::size_t end = std::min(target.find('/', begin), target.size());
    const std::string name = target.substr(begin, end - begin);
    at = TRY(Enter(at, name, Below(at->path(), name), links));
    begin = end + 1;
  }
  return at;
}

Result<std::vector<std::string>> ListOpen(const UniqueFd& directory) {
  UniqueFd listed(::openat(directory.get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!listed) return Error::FromErrno("opening the directory");
  return NamesIn(std::move(listed));
}

Result<UniqueFd> OpenToRead(const Root& root, const std::string& path) {
  const auto directory = TRY(Directories(root).Open(DirectoryAbove(path)));
  const std::string name = path.substr(path.rfind('/') + 1);
  if (name.empty() || name == "." || name == "..") return Error(ErrorKind::kInvalid, "not a regular file");
  // O_NONBLOCK keeps a named pipe in the place of a file from blocking us.
  constexpr int kFlags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;
  UniqueFd file(::openat(directory->fd(), name.c_str(), kFlags));
  if (!file) return Error::FromErrno("open");
  struct stat status;
  if (::fstat(file.get(), &status) != 0) return Error::FromErrno("fstat");
  if (!S_ISREG(status.st_mode)) return Error(ErrorKind::kInvalid, "not a regular file");
  TRY(CheckReadable(*directory, status));
  return file;
}

Result<std::string> TargetOf(int link) {
  std::array<char, PATH_MAX> target;
  const ssize_t length = ::readlinkat(link, "", target.data(), target.size());
  if (length < 0) return Error::FromErrno("readlink");
  return std::string(target.data(), static_cast<std::size_t>(length));
}

Result<std::string> ReadWhole(const Root& root, const std::string& path, std::size_t limit) {
  const auto doing = [&] { return fmt::format("reading {}", path); };
  const UniqueFd file = TRY(OpenToRead(root, path), doing());
  std::string contents;
  Pieces pieces(file.get(), Pieces::kMostAtOnce);
  for (std::string_view piece = TRY(pieces.Next(), doing()); !piece.empty(); piece = TRY(pieces.Next(), doing())) {
    contents += piece;
    if (contents.size() <= limit) continue;
    return Error(ErrorKind::kInvalid, fmt::format("longer than the limit of {} bytes", limit)).While(doing());
  }
  return contents;
}

}  // namespace pintle::host
