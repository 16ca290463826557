// SPDX-License-Identifier: Apache-2.0
#include "host/files/workspaces.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <utility>

#include "host/files/remedy.h"

namespace pintle::host {
namespace {

constexpr std::size_t kMostWorkspacesOpen = 64;

// A workspace gets the temporary name that TemporaryNameOf() makes of the empty name.  No file has an empty name, so
// nothing else gets that temporary name.
constexpr std::string_view kNoName;

// Returns a temporary name that nobody can foresee.
Result<std::string> RandomName() {
  std::array<char, 16> random;
  if (::getrandom(random.data(), random.size(), 0) != static_cast<ssize_t>(random.size())) {
    return Error::FromErrno("getrandom");
  }
  return TemporaryNameOf(std::string_view(random.data(), random.size()));
}

// Removes what a crash has left under the temporary name of `name`.
Result<> ClearLeftover(const Directory& directory, std::string_view name) {
  struct stat status;
  // The name is looked up first, since unlink() fails on a read-only file system even if the name does not exist.
  if (::fstatat(directory.fd(), TemporaryNameOf(name).c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0 && errno == ENOENT) {
    return {};
  }
  auto cleared = ClearTemporaryName(directory.fd(), name);
  // A user's entry in a shared directory may stay: our temporary names are in a workspace there.
  if (cleared || !directory.IsShared() || IsFaultOfMachine(cleared.error())) return cleared;
  return {};
}

Result<UniqueFd> OpenWorkspace(const Directory& directory, const std::string& name) {
  UniqueFd workspace(::openat(directory.fd(), name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!workspace) return Error::FromErrno("opening our temporary directory");
  return workspace;
}

Result<struct stat> StatusOf(const UniqueFd& fd) {
  struct stat status;
  if (::fstat(fd.get(), &status) != 0) return Error::FromErrno("fstat");
  return status;
}

Identity IdentityOf(const struct stat& status) { return {status.st_dev, status.st_ino}; }

}  // namespace

Result<int> Workspaces::For(const Directory& directory) {
  if (!directory.IsShared()) return directory.fd();
  const Identity& identity = directory.identity();
  if (const auto found = open_.find(identity); found != open_.end()) return found->second.get();
  const auto made = made_.find(identity);
  UniqueFd workspace = made == made_.end() ? TRY(Make(directory)) : TRY(OpenAgain(directory, made->second));
  if (open_.size() >= kMostWorkspacesOpen) open_.clear();
  return open_.emplace(identity, std::move(workspace)).first->second.get();
}

Result<> Workspaces::ClearLeftovers(const Directory& directory, std::string_view name) const {
  if (directory.IsShared() && !made_.contains(directory.identity())) TRY(ClearLeftover(directory, kNoName));
  return ClearLeftover(directory, name);
}

void Workspaces::RemoveFrom(const Directory& directory) {
  const auto made = made_.find(directory.identity());
  if (made == made_.end()) return;
  ::unlinkat(directory.fd(), made->second.name.c_str(), AT_REMOVEDIR);
  open_.erase(directory.identity());
  made_.erase(made);
  paths_.erase(directory.identity());
}

std::vector<std::string> Workspaces::NamesTo(const Directory& directory, const std::string& beside) const {
  const auto made = made_.find(directory.identity());
  if (made == made_.end()) return {beside};
  return {made->second.name, beside};
}

// Someone may replace the workspace between mkdir() and open().  So the opened directory must have the owner and the
// permissions that mkdir() gives it.
Result<UniqueFd> Workspaces::Make(const Directory& directory) {
  TRY(ClearLeftover(directory, kNoName));
  std::string name = TemporaryNameOf(kNoName);
  int made = ::mkdirat(directory.fd(), name.c_str(), 0700);
  if (made != 0 && errno == EEXIST) {
    name = TRY(RandomName());
    made = ::mkdirat(directory.fd(), name.c_str(), 0700);
  }
  if (made != 0) return Error::FromErrno("making a temporary directory");
  UniqueFd workspace = TRY(OpenWorkspace(directory, name));
  const struct stat status = TRY(StatusOf(workspace));
  if (status.st_uid != ::geteuid() || (status.st_mode & 0777) != 0700 || status.st_dev != directory.identity().device) {
    return Error(
        ErrorKind::kConflict,
        fmt::format("cannot make a directory in {0} that only we may enter; give {0} to root with `chown`, and "
                    "check that its file system stores owners and permissions",
                    directory.path()));
  }
  made_[directory.identity()] = {std::move(name), IdentityOf(status)};
  paths_[directory.identity()] = directory.path();
  return workspace;
}

Result<UniqueFd> Workspaces::OpenAgain(const Directory& directory, const Made& made) {
  UniqueFd workspace = TRY(OpenWorkspace(directory, made.name));
  if (IdentityOf(TRY(StatusOf(workspace))) == made.identity) return workspace;
  return Error(ErrorKind::kConflict,
               fmt::format("someone has replaced our temporary directory in {}", directory.path()));
}

}  // namespace pintle::host
