// SPDX-License-Identifier: Apache-2.0
#include "base/root.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <linux/openat2.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <climits>
#include <utility>

#include "base/digest.h"
#include "base/names_in.h"
#include "base/write_all.h"

namespace pintle {
namespace {

constexpr std::uint64_t kResolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS;

// openat2() fails with EAGAIN if anything on the machine is renamed or mounted while the kernel resolves a "..".  Then
// the call is repeated, up to this number of attempts.
constexpr int kLookupAttempts = 64;

Result<UniqueFd> OpenBelow(int root, const std::string& path, std::uint64_t flags, mode_t mode) {
  open_how how = {};
  how.flags = flags | O_CLOEXEC;
  how.mode = mode;
  how.resolve = kResolve;
  for (int attempt = 0; attempt < kLookupAttempts; ++attempt) {
    const long fd = ::syscall(SYS_openat2, root, path.c_str(), &how, sizeof how);
    if (fd >= 0) return UniqueFd(static_cast<int>(fd));
    if (errno != EAGAIN && errno != EINTR) return Error::FromErrno("open");
  }
  return Error::FromErrno("open", EAGAIN);
}

// A directory, and a name in it.  System calls that have no RESOLVE_IN_ROOT are called with these two: the directory
// was looked up inside the root, and a single name cannot lead out of it.
struct Place {
  UniqueFd directory;
  std::string name;
};

std::string_view WithoutTrailingSlashes(std::string_view path) {
  while (path.size() > 1 && path.ends_with('/')) path.remove_suffix(1);
  return path;
}

Result<Place> FindPlace(int root, std::string_view path) {
  path = WithoutTrailingSlashes(path);
  const std::size_t slash = path.rfind('/');
  std::string above(slash == std::string_view::npos ? std::string_view(".") : path.substr(0, slash + 1));
  std::string name(slash == std::string_view::npos ? path : path.substr(slash + 1));
  if (name.empty() || name == "." || name == "..") {
    return Error(ErrorKind::kInvalid, fmt::format("\"{}\" does not end in a name", path));
  }
  UniqueFd directory = TRY(OpenBelow(root, above, O_PATH | O_DIRECTORY, 0));
  return Place{std::move(directory), std::move(name)};
}

// fsync of a directory needs a descriptor that was opened for reading, but a Place opens its directory with O_PATH.
Result<> SyncDirectory(int directory) {
  const UniqueFd readable(::openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!readable) return Error::FromErrno("opening the directory");
  if (::fsync(readable.get()) != 0) return Error::FromErrno("fsync of the directory");
  return {};
}

// Returns the path that the kernel reports for a descriptor, as seen from the root of this process.
Result<std::string> PathOf(int fd) {
  std::array<char, PATH_MAX> path;
  const ssize_t length = ::readlink(fmt::format("/proc/self/fd/{}", fd).c_str(), path.data(), path.size());
  if (length < 0) return Error::FromErrno("readlink");
  return std::string(path.data(), static_cast<std::size_t>(length));
}

constexpr std::string_view kTemporaryNamePrefix = ".pintle-";

// A leftover is removed only if its directories are nested at most this deep.  Each level takes a descriptor until it
// is removed, so without a limit, someone who nests directories could use up our descriptors.
constexpr int kMostLeftoverLevels = 250;

Result<> RemoveLeftover(int directory, const std::string& name, int levels = kMostLeftoverLevels) {
  if (::unlinkat(directory, name.c_str(), 0) == 0 || errno == ENOENT) return {};
  if (errno != EISDIR) return Error::FromErrno("removing a leftover");
  if (levels == 0) {
    return Error(ErrorKind::kConflict,
                 "removing a leftover: its directories are nested too deep; remove those whose names begin with "
                 ".pintle-");
  }
  UniqueFd leftover(::openat(directory, name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!leftover) return Error::FromErrno("opening a leftover");
  const UniqueFd inside(::fcntl(leftover.get(), F_DUPFD_CLOEXEC, 0));  // NamesIn() closes the descriptor that it gets.
  if (!inside) return Error::FromErrno("dup");
  for (const std::string& entry : TRY(NamesIn(std::move(leftover)))) {
    if (entry.starts_with(kTemporaryNamePrefix)) TRY(RemoveLeftover(inside.get(), entry, levels - 1));
  }
  if (::unlinkat(directory, name.c_str(), AT_REMOVEDIR) != 0) return Error::FromErrno("removing a leftover");
  return {};
}

// A new file or link under its temporary name.  The destructor removes it, unless MoveToPlace() has renamed it.
class TemporaryEntry {
 public:
  explicit TemporaryEntry(const Place& place) : place_(place), name_(TemporaryNameOf(place.name)) {}
  ~TemporaryEntry() {
    if (made_) ::unlinkat(place_.directory.get(), name_.c_str(), 0);
  }
  TemporaryEntry(const TemporaryEntry&) = delete;
  TemporaryEntry& operator=(const TemporaryEntry&) = delete;

  int directory() const { return place_.directory.get(); }
  const char* name() const { return name_.c_str(); }
  void MarkMade() { made_ = true; }

  // Removes an entry that a crash has left under the temporary name.
  Result<> MakeRoom() { return RemoveLeftover(directory(), name_); }

  // Renames the entry to its final name durably: it keeps that name even after a power cut.
  Result<> MoveToPlace() {
    if (::renameat(directory(), name(), directory(), place_.name.c_str()) != 0) return Error::FromErrno("rename");
    made_ = false;
    return SyncDirectory(directory());
  }

 private:
  const Place& place_;
  std::string name_;
  bool made_ = false;
};

Result<> SetMode(int fd, const FileMode& mode) {
  // The owner comes first, since chown(2) clears set-user-id.
  if (mode.owner && ::fchown(fd, mode.owner->uid, mode.owner->gid) != 0) return Error::FromErrno("chown");
  if (::fchmod(fd, mode.permissions) != 0) return Error::FromErrno("chmod");
  return {};
}

Result<> WriteFileAt(const Place& place, std::string_view contents, const FileMode& mode) {
  TemporaryEntry temporary(place);
  TRY(temporary.MakeRoom());
  const UniqueFd file(
      ::openat(temporary.directory(), temporary.name(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!file) return Error::FromErrno("creating a temporary file");
  temporary.MarkMade();
  TRY(WriteAll(file.get(), contents));
  TRY(SetMode(file.get(), mode));
  if (::fsync(file.get()) != 0) return Error::FromErrno("fsync");
  return temporary.MoveToPlace();
}

Result<> WriteLinkAt(const Place& place, const std::string& target) {
  TemporaryEntry temporary(place);
  TRY(temporary.MakeRoom());
  if (::symlinkat(target.c_str(), temporary.directory(), temporary.name()) != 0) return Error::FromErrno("symlink");
  temporary.MarkMade();
  return temporary.MoveToPlace();
}

Result<> MakeDirectoryAt(const Place& place, const FileMode& mode) {
  // The permissions must be right from the first instant: a directory that exists is left as it is, so nothing would
  // correct the permissions after a crash.
  if (::mkdirat(place.directory.get(), place.name.c_str(), mode.permissions) != 0) {
    if (errno == EEXIST) return {};
    return Error::FromErrno("mkdir");
  }
  const UniqueFd made(
      ::openat(place.directory.get(), place.name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!made) return Error::FromErrno("opening the new directory");
  TRY(SetMode(made.get(), mode));
  if (::fsync(made.get()) != 0) return Error::FromErrno("fsync of the new directory");
  return SyncDirectory(place.directory.get());
}

}  // namespace

std::string TemporaryNameOf(std::string_view name) {
  return std::string(kTemporaryNamePrefix) + Sha256(name).hex().substr(0, 16);
}

bool IsTemporaryName(std::string_view name) { return name.starts_with(kTemporaryNamePrefix); }

Result<> ClearTemporaryName(int directory, std::string_view name) {
  return RemoveLeftover(directory, TemporaryNameOf(name));
}

Result<Root> Root::Open(const std::string& path) {
  UniqueFd directory(::open(path.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!directory) return Error::FromErrno("open").While("opening the root " + path);
  return Root(std::move(directory));
}

Result<UniqueFd> Root::OpenFile(std::string_view path, int flags, mode_t mode) const {
  return TRY(OpenBelow(directory_.get(), std::string(path), static_cast<unsigned>(flags), mode),
             fmt::format("opening {}", path));
}

Result<std::string> Root::ReadFile(std::string_view path, std::size_t limit) const {
  const auto doing = [&] { return fmt::format("reading {}", path); };
  // If a named pipe has taken the file's place, O_NONBLOCK keeps open() from blocking.
  const UniqueFd file = TRY(OpenBelow(directory_.get(), std::string(path), O_RDONLY | O_NONBLOCK, 0), doing());
  struct stat status;
  if (::fstat(file.get(), &status) != 0) return Error::FromErrno("fstat").While(doing());
  if (!S_ISREG(status.st_mode)) return Error(ErrorKind::kInvalid, "not a regular file").While(doing());
  std::string contents;
  // Files in /proc have a size of 0, so the loop reads until read() returns 0.
  std::size_t chunk = std::max<std::size_t>(static_cast<std::size_t>(status.st_size) + 1, 4096);
  for (;;) {
    const std::size_t before = contents.size();
    contents.resize(before + std::min(chunk, limit + 1 - before));
    const ssize_t count = ::read(file.get(), contents.data() + before, contents.size() - before);
    if (count < 0 && errno != EINTR) return Error::FromErrno("read").While(doing());
    contents.resize(before + static_cast<std::size_t>(std::max<ssize_t>(count, 0)));
    if (count == 0) return contents;
    if (contents.size() > limit) {
      return Error(ErrorKind::kInvalid, fmt::format("longer than the limit of {} bytes", limit)).While(doing());
    }
    // The first chunk has one byte more than the file, so usually the last read() needs no larger buffer.
    const std::size_t room = contents.capacity() - contents.size();
    chunk = room > 0 ? room : std::max<std::size_t>(contents.size(), 4096);
  }
}

Result<std::string> Root::ReadLink(std::string_view path) const {
  const auto doing = [&] { return fmt::format("reading the link {}", path); };
  const Place place = TRY(FindPlace(directory_.get(), path), doing());
  std::array<char, PATH_MAX> target;
  const ssize_t length = ::readlinkat(place.directory.get(), place.name.c_str(), target.data(), target.size());
  if (length < 0) return Error::FromErrno("readlink").While(doing());
  return std::string(target.data(), static_cast<std::size_t>(length));
}

Result<std::string> Root::RealPath(std::string_view path) const {
  const auto doing = [&] { return fmt::format("resolving {}", path); };
  const UniqueFd file = TRY(OpenFile(path, O_PATH), doing());
  const std::string top = TRY(PathOf(directory_.get()), doing());
  const std::string real = TRY(PathOf(file.get()), doing());
  if (top == "/" || real == top) return real == top ? "/" : real;
  if (!real.starts_with(top + "/"))
    return Error(ErrorKind::kSystem, "the path was moved out of the root directory").While(doing());
  return real.substr(top.size());
}

Result<std::optional<struct stat>> Root::Status(std::string_view path) const {
  const auto doing = [&] { return fmt::format("looking at {}", path); };
  auto thing = OpenBelow(directory_.get(), std::string(path), O_PATH | O_NOFOLLOW, 0);
  if (!thing) {
    // ENOTDIR: a part of the path is a file, so the name does not exist either.
    if (thing.error().errno_value() == ENOENT || thing.error().errno_value() == ENOTDIR) return std::nullopt;
    return std::move(thing).error().While(doing());
  }
  struct stat status;
  if (::fstat((*thing).get(), &status) != 0) return Error::FromErrno("fstat").While(doing());
  return status;
}

Result<std::vector<std::string>> Root::List(std::string_view path) const {
  const auto doing = [&] { return fmt::format("listing {}", path); };
  UniqueFd directory = TRY(OpenBelow(directory_.get(), std::string(path), O_RDONLY | O_DIRECTORY, 0), doing());
  std::vector<std::string> names = TRY(NamesIn(std::move(directory)), doing());
  std::sort(names.begin(), names.end());
  return names;
}

Result<> Root::WriteFile(std::string_view path, std::string_view contents, const FileMode& mode) const {
  const auto doing = [&] { return fmt::format("writing {}", path); };
  if (contents.size() > kReadLimit) {
    return Error(ErrorKind::kInvalid, fmt::format("{} bytes are more than the limit of {} for reading the file back",
                                                  contents.size(), kReadLimit))
        .While(doing());
  }
  const Place place = TRY(FindPlace(directory_.get(), path), doing());
  TRY(WriteFileAt(place, contents, mode), doing());
  return {};
}

Result<> Root::WriteLink(std::string_view path, const std::string& target) const {
  const auto doing = [&] { return fmt::format("linking {} to {}", path, target); };
  const Place place = TRY(FindPlace(directory_.get(), path), doing());
  TRY(WriteLinkAt(place, target), doing());
  return {};
}

Result<> Root::MakeDirectories(std::string_view path, const FileMode& mode) const {
  path = WithoutTrailingSlashes(path);
  for (std::size_t end = 0; end < path.size();) {
    end = std::min(path.find('/', end + 1), path.size());
    const std::string_view part = path.substr(0, end);
    if (part == "/" || part == "." || part.ends_with("/.")) continue;
    if (OpenBelow(directory_.get(), std::string(part), O_PATH | O_DIRECTORY, 0)) continue;
    const auto doing = [&] { return fmt::format("making the directory {}", part); };
    const Place place = TRY(FindPlace(directory_.get(), part), doing());
    TRY(MakeDirectoryAt(place, mode), doing());
    // The name may have existed as something else, or as a symlink to nowhere.
    TRY(OpenBelow(directory_.get(), std::string(part), O_PATH | O_DIRECTORY, 0), doing());
  }
  return {};
}

Result<> Root::Remove(std::string_view path) const {
  const auto doing = [&] { return fmt::format("removing {}", path); };
  auto place = FindPlace(directory_.get(), path);
  if (!place) {
    const int reason = place.error().errno_value();
    if (reason == ENOENT || reason == ENOTDIR) return {};
    return std::move(place).error().While(doing());
  }
  const int directory = place->directory.get();
  TRY(TemporaryEntry(*place).MakeRoom(), doing());
  int result = ::unlinkat(directory, place->name.c_str(), 0);
  if (result != 0 && errno == EISDIR) result = ::unlinkat(directory, place->name.c_str(), AT_REMOVEDIR);
  if (result != 0 && errno == ENOENT) return {};
  if (result != 0) return Error::FromErrno("unlink").While(doing());
  TRY(SyncDirectory(directory), doing());
  return {};
}

}  // namespace pintle
