// SPDX-License-Identifier: Apache-2.0
#include "host/files/exchange.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>

#include "base/root.h"
#include "base/unique_fd.h"
#include "base/write_all.h"
#include "host/files/attributes.h"
#include "host/files/new_entry.h"
#include "host/files/pieces.h"
#include "host/files/remedy.h"

namespace pintle::host {
namespace {

using resource::EntryKind;
using FileState = resource::FileEntry::State;
using OldEntry = std::optional<ExistingEntry>;

int UnlinkEntry(int directory, const std::string& name, EntryKind kind) {
  return ::unlinkat(directory, name.c_str(), kind == EntryKind::kDirectory ? AT_REMOVEDIR : 0);
}

bool IsNotEmpty(int errno_value) { return errno_value == ENOTEMPTY || errno_value == EEXIST; }

// Returns whether the error means that the kernel or the file system does not support the call.
bool IsUnsupported(int errno_value) { return errno_value == EINVAL || errno_value == ENOSYS; }

bool WasDirectory(const Exchange& exchange) { return exchange.existing->kind == EntryKind::kDirectory; }

Result<bool> EntryIsInState(int directory, const std::string& name, const ExistingEntry& existing,
                            const FileState& state, const BlobStore& blobs) {
  if (existing.kind != state.kind) return false;
  const int flags = existing.kind == EntryKind::kLink ? O_PATH : O_RDONLY | O_NONBLOCK | O_NOCTTY;
  const UniqueFd opened(::openat(directory, name.c_str(), flags | O_NOFOLLOW | O_CLOEXEC));
  if (!opened) {
    Error error = Error::FromErrno("opening the existing entry");
    return IsFaultOfMachine(error) ? std::move(error) : Error(ErrorKind::kConflict, error.message());
  }
  const Attributes have = TRY(ReadAttributes(opened.get(), HowOpened(existing.kind)));
  return IsInState(state, existing, opened.get(), have, blobs);
}

// Returns whether an entry still has the state that was observed, although its times have changed.
Result<bool> IsAsSeen(int directory, const std::string& name, const ExistingEntry& existing, const Exchange& exchange,
                      const BlobStore& blobs) {
  return exchange.seen && TRY(EntryIsInState(directory, name, existing, *exchange.seen, blobs));
}

// Checks before the exchange whether the entry was edited.  Without this check, an edit would be found only after
// others could see the new entry for an instant.
Result<> CheckStillThere(const ExchangeDirectories& directories, const Exchange& exchange, const BlobStore& blobs) {
  const int directory = directories.parent.fd();
  const auto existing = TRY(FindExisting(directory, exchange.name));
  if (!existing) return EditedError();
  if (WasDirectory(exchange) && existing->kind == EntryKind::kDirectory) return {};
  if (IsUntouched(*exchange.existing, *existing)) return {};
  return TRY(IsAsSeen(directory, exchange.name, *existing, exchange, blobs)) ? Result<>() : EditedError();
}

// Gives the old entry its name again.
Result<> PutBack(const ExchangeDirectories& directories, const Exchange& exchange) {
  const std::string temporary = TemporaryNameOf(exchange.name);
  const auto put_back = [&](unsigned flags) -> Result<> {
    const int renamed =
        ::renameat2(directories.workspace, temporary.c_str(), directories.parent.fd(), exchange.name.c_str(), flags);
    return renamed == 0 ? Result<>() : Error::FromErrno("putting back the edited entry");
  };
  if (!exchange.new_entry) {
    const auto done = put_back(RENAME_NOREPLACE);
    return done || !IsUnsupported(done.error().errno_value()) ? done : put_back(0);
  }
  TRY(put_back(RENAME_EXCHANGE));
  const auto found = FindExisting(directories.workspace, temporary);
  // If the temporary name does not have our new entry now, someone has replaced that entry meanwhile: the newest edit
  // stays.
  if (!found || (*found && (*found)->identity != *exchange.new_entry)) TRY(put_back(RENAME_EXCHANGE));
  return ClearTemporaryName(directories.workspace, exchange.name);
}

// Examines the old entry, which has the temporary name now, and puts it back if someone has edited it.
Result<OldEntry> CheckOldEntry(const ExchangeDirectories& directories, const Exchange& exchange,
                               const BlobStore& blobs) {
  const std::string temporary = TemporaryNameOf(exchange.name);
  const auto found = FindExisting(directories.workspace, temporary);
  if (!found) {
    // The old entry is of a kind that we do not manage, such as a pipe.
    TRY(PutBack(directories, exchange));
    return found.error();
  }
  const auto& old_entry = *found;
  if (!old_entry) return OldEntry();
  if (old_entry->kind == EntryKind::kDirectory) {
    if (WasDirectory(exchange) && UnlinkEntry(directories.workspace, temporary, old_entry->kind) == 0)
      return OldEntry();
    TRY(PutBack(directories, exchange));
    return WasDirectory(exchange) ? NotEmptyError() : EditedError();
  }
  if (IsUntouchedButRenamed(*exchange.existing, *old_entry)) return old_entry;
  const auto is_as_seen = IsAsSeen(directories.workspace, temporary, *old_entry, exchange, blobs);
  if (is_as_seen && *is_as_seen) return old_entry;
  TRY(PutBack(directories, exchange));
  TRY(is_as_seen);
  return EditedError();
}

// Returns whether someone has edited an open file since its status was `was`.  The file may have lost its name.
Result<bool> IsEditedSince(const ExistingEntry& was, int opened, const Exchange& exchange, const BlobStore& blobs) {
  struct stat status;
  if (::fstat(opened, &status) != 0) return Error::FromErrno("fstat");
  const std::int64_t modified = status.st_mtim.tv_sec * 1'000'000'000 + status.st_mtim.tv_nsec;
  const bool is_same = modified == was.modified && static_cast<std::uint64_t>(status.st_size) == was.size &&
                       (status.st_mode & 07777) == was.permissions && status.st_uid == was.user &&
                       status.st_gid == was.group;
  if (!is_same || !exchange.is_fresh || !exchange.seen) return !is_same;
  return blobs.SizeOf(exchange.seen->sha256) != was.size || !TRY(blobs.Equals(exchange.seen->sha256, opened));
}

// Puts a copy of the open old file back at its name, which the new entry has taken.
Result<> PutBackCopy(const ExchangeDirectories& directories, const std::string& name, int opened) {
  struct stat status;
  if (::fstat(opened, &status) != 0) return Error::FromErrno("fstat");
  const std::string temporary = TemporaryNameOf(name);
  constexpr int kFlags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
  const UniqueFd copy(::openat(directories.workspace, temporary.c_str(), kFlags, 0600));
  if (!copy) return Error::FromErrno("creating a temporary file");
  Pieces pieces(opened, static_cast<std::size_t>(status.st_size));
  for (std::string_view piece = TRY(pieces.Next()); !piece.empty(); piece = TRY(pieces.Next())) {
    TRY(WriteAll(copy.get(), piece));
  }
  FileState was;
  was.permissions = status.st_mode & 07777;
  was.user.id = status.st_uid;
  was.group.id = status.st_gid;
  auto attributes = TRY(ReadAttributes(opened, OpenedAs::kItself));
  TRY(SetMetadata(copy.get(), was, {std::move(attributes), OtherAttributes::kRemove}));
  if (::fsync(copy.get()) != 0) return Error::FromErrno("fsync");
  if (::renameat(directories.workspace, temporary.c_str(), directories.parent.fd(), name.c_str()) != 0) {
    return Error::FromErrno("putting back the edited entry");
  }
  return {};
}

// Replaces an entry on a file system that cannot exchange two names, such as vfat.  The old file stays open, so that
// an edit of its contents during the rename is found and put back.  If someone replaces the file just before the
// rename, that edit is lost.  If a directory is replaced, its name does not exist for an instant.
Result<OldEntry> ReplacePlainly(const ExchangeDirectories& directories, const Exchange& exchange, const FileState& want,
                                const BlobStore& blobs) {
  const int directory = directories.parent.fd();
  const auto existing = TRY(FindExisting(directory, exchange.name));
  if (!existing) return EditedError();
  UniqueFd old_file;
  if (existing->kind == EntryKind::kFile) old_file = TRY(OpenExisting(directories.parent, exchange.name, *existing));
  TRY(CheckStillThere(directories, exchange, blobs));
  const bool has_directory = want.kind == EntryKind::kDirectory || WasDirectory(exchange);
  if (has_directory && UnlinkEntry(directory, exchange.name, exchange.existing->kind) != 0) {
    return IsNotEmpty(errno) ? NotEmptyError() : Error::FromErrno("removing the old entry");
  }
  if (::renameat(directories.workspace, TemporaryNameOf(exchange.name).c_str(), directory, exchange.name.c_str()) !=
      0) {
    return Error::FromErrno("rename");
  }
  if (!old_file || !TRY(IsEditedSince(*existing, old_file.get(), exchange, blobs))) return OldEntry();
  if (want.kind == EntryKind::kDirectory && UnlinkEntry(directory, exchange.name, want.kind) != 0) {
    return Error::FromErrno("putting back the edited entry");
  }
  TRY(PutBackCopy(directories, exchange.name, old_file.get()));
  return EditedError();
}

}  // namespace

Error EditedError() {
  return Error(ErrorKind::kConflict,
               "someone has edited it during the change, and the edit stays: see `pintle verify`");
}

Error NotEmptyError() { return Error(ErrorKind::kConflict, "a directory that is not empty is there: move it away"); }

Result<> PutInPlace(const ExchangeDirectories& directories, const Exchange& exchange, const FileState& want,
                    const BlobStore& blobs) {
  const int directory = directories.parent.fd();
  const std::string temporary = TemporaryNameOf(exchange.name);
  int placed =
      ::renameat2(directories.workspace, temporary.c_str(), directory, exchange.name.c_str(), RENAME_NOREPLACE);
  if (placed != 0 && IsUnsupported(errno)) {
    if (TRY(FindExisting(directory, exchange.name))) return EditedError();
    placed = ::renameat(directories.workspace, temporary.c_str(), directory, exchange.name.c_str());
  }
  if (placed == 0) return {};
  if (errno != EEXIST) return Error::FromErrno("rename");
  // It is no conflict if someone else has made the same entry.
  const auto existing = TRY(FindExisting(directory, exchange.name));
  if (!existing || !TRY(EntryIsInState(directory, exchange.name, *existing, want, blobs))) return EditedError();
  return ClearTemporaryName(directories.workspace, exchange.name);
}

Result<OldEntry> Replace(const ExchangeDirectories& directories, const Exchange& exchange, const FileState& want,
                         const BlobStore& blobs) {
  TRY(CheckStillThere(directories, exchange, blobs));
  const std::string temporary = TemporaryNameOf(exchange.name);
  const int directory = directories.parent.fd();
  if (::renameat2(directories.workspace, temporary.c_str(), directory, exchange.name.c_str(), RENAME_EXCHANGE) == 0) {
    return CheckOldEntry(directories, exchange, blobs);
  }
  if (IsUnsupported(errno)) return ReplacePlainly(directories, exchange, want, blobs);
  return Error::FromErrno("exchange");
}

Result<OldEntry> MoveAside(const ExchangeDirectories& directories, const Exchange& exchange, const BlobStore& blobs) {
  const int directory = directories.parent.fd();
  if (WasDirectory(exchange)) {
    if (UnlinkEntry(directory, exchange.name, EntryKind::kDirectory) == 0 || errno == ENOENT) return OldEntry();
    if (IsNotEmpty(errno)) return OldEntry();
    return errno == ENOTDIR ? EditedError() : Error::FromErrno("rmdir");
  }
  if (!TRY(FindExisting(directory, exchange.name))) return OldEntry();
  TRY(CheckStillThere(directories, exchange, blobs));
  if (::renameat(directory, exchange.name.c_str(), directories.workspace, TemporaryNameOf(exchange.name).c_str()) ==
      0) {
    return CheckOldEntry(directories, exchange, blobs);
  }
  if (errno == ENOENT) return OldEntry();
  return Error::FromErrno("rename");
}

Result<> DeleteOldEntry(const ExchangeDirectories& directories, const Exchange& exchange,
                        const ExistingEntry& old_entry, const BlobStore& blobs) {
  const std::string temporary = TemporaryNameOf(exchange.name);
  const auto existing = TRY(FindExisting(directories.workspace, temporary));
  if (!existing) return {};
  bool is_edited = !IsUntouched(old_entry, *existing);
  if (is_edited || (exchange.is_fresh && exchange.seen)) {
    is_edited = !TRY(IsAsSeen(directories.workspace, temporary, *existing, exchange, blobs));
  }
  if (is_edited) {
    TRY(PutBack(directories, exchange));
    return EditedError();
  }
  if (::unlinkat(directories.workspace, temporary.c_str(), 0) != 0 && errno != ENOENT)
    return Error::FromErrno("unlink");
  return {};
}

}  // namespace pintle::host
