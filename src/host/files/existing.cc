// SPDX-License-Identifier: Apache-2.0
#include "host/files/existing.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/sysmacros.h>

#include <chrono>
#include <utility>

#include "host/files/entry_kind.h"
#include "host/files/remedy.h"

namespace pintle::host {
namespace {

using resource::EntryKind;
using FileState = resource::FileEntry::State;

// This is longer than a tick of the kernel's clock for the times of files.
constexpr std::chrono::milliseconds kTick(50);

std::int64_t Nanoseconds(const statx_timestamp& time) { return time.tv_sec * 1'000'000'000 + time.tv_nsec; }

}  // namespace

Result<std::optional<ExistingEntry>> FindExisting(int directory, const std::string& name) {
  struct statx status = {};
  if (::statx(directory, name.c_str(), AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT, STATX_BASIC_STATS, &status) != 0) {
    if (errno == ENOENT) return std::nullopt;
    // A file system that a user has mounted there can return any error.  So all errors but faults of the machine are
    // conflicts.
    Error error = WithRemedy(Error::FromErrno("statx"));
    return IsFaultOfMachine(error) ? std::move(error) : Error(ErrorKind::kConflict, error.message());
  }
  ExistingEntry existing;
  const auto kind = KindOf(status.stx_mode);
  if (!kind) return Error(ErrorKind::kConflict, kind.error().message());
  existing.kind = *kind;
  existing.permissions = status.stx_mode & 07777;
  existing.user = status.stx_uid;
  existing.group = status.stx_gid;
  existing.size = status.stx_size;
  existing.statx_flags = status.stx_attributes;
  existing.identity = {gnu_dev_makedev(status.stx_dev_major, status.stx_dev_minor), status.stx_ino};
  existing.modified = Nanoseconds(status.stx_mtime);
  existing.changed = Nanoseconds(status.stx_ctime);
  return existing;
}

Result<> CheckNotImmutable(std::uint64_t statx_flags, std::string_view subject) {
  if ((statx_flags & STATX_ATTR_IMMUTABLE) != 0) {
    return Error(ErrorKind::kConflict, fmt::format("{} is immutable: `chattr -i` makes it changeable", subject));
  }
  if ((statx_flags & STATX_ATTR_APPEND) != 0) {
    return Error(ErrorKind::kConflict,
                 fmt::format("{} can only be appended to: `chattr -a` makes it changeable", subject));
  }
  return {};
}

Result<> CheckNotMounted(const ExistingEntry& existing) {
  if ((existing.statx_flags & STATX_ATTR_MOUNT_ROOT) == 0) return {};
  return Error(ErrorKind::kConflict, "something is mounted there: unmount it");
}

bool IsUntouched(const ExistingEntry& was, const ExistingEntry& is) {
  return was.changed == is.changed && IsUntouchedButRenamed(was, is);
}

bool IsUntouchedButRenamed(const ExistingEntry& was, const ExistingEntry& is) {
  return was.identity == is.identity && was.kind == is.kind && was.size == is.size && was.modified == is.modified &&
         was.permissions == is.permissions && was.user == is.user && was.group == is.group;
}

bool IsUnchangedSince(const ExistingEntry& existing, WallTime moment) {
  const auto latest = std::chrono::duration_cast<std::chrono::nanoseconds>((moment - kTick).time_since_epoch());
  return existing.changed < latest.count();
}

Fingerprint FingerprintOf(const ExistingEntry& existing) {
  return {existing.identity.device, existing.identity.inode, static_cast<std::int64_t>(existing.size),
          existing.modified, existing.changed};
}

Result<UniqueFd> OpenExisting(const Directory& directory, const std::string& name, const ExistingEntry& existing) {
  int flags = O_NOFOLLOW | O_CLOEXEC;
  if (existing.kind == EntryKind::kFile) flags |= O_RDONLY | O_NONBLOCK | O_NOCTTY;
  if (existing.kind == EntryKind::kDirectory) flags |= O_RDONLY | O_DIRECTORY;
  if (existing.kind == EntryKind::kLink) flags |= O_PATH;
  UniqueFd opened(::openat(directory.fd(), name.c_str(), flags));
  if (!opened) {
    Error error = Error::FromErrno("opening the existing entry");
    if (IsFaultOfMachine(error)) return error;
    // Someone has put something else there, or holds a lease on it.
    return Error(ErrorKind::kConflict, error.message());
  }
  struct stat status;
  if (::fstat(opened.get(), &status) != 0) return Error::FromErrno("fstat");
  if (Identity{status.st_dev, status.st_ino} != existing.identity) {
    return Error(ErrorKind::kConflict, "something else was put there meanwhile");
  }
  TRY(CheckReadable(directory, status));
  return opened;
}

OpenedAs HowOpened(EntryKind kind) { return kind == EntryKind::kLink ? OpenedAs::kPath : OpenedAs::kItself; }

Result<bool> IsInState(const FileState& state, const ExistingEntry& existing, int opened, const Attributes& have,
                       const BlobStore& blobs) {
  if (existing.kind != state.kind || existing.user != state.user.id || existing.group != state.group.id) return false;
  if (state.kind != EntryKind::kLink && existing.permissions != state.permissions) return false;
  if (state.attributes && !AreAsWanted(TRY(FromText(*state.attributes)), have)) return false;
  if (state.kind == EntryKind::kLink) return TRY(TargetOf(opened)) == state.target;
  if (state.kind == EntryKind::kDirectory) return true;
  return blobs.SizeOf(state.sha256) == existing.size && TRY(blobs.Equals(state.sha256, opened));
}

}  // namespace pintle::host
