// SPDX-License-Identifier: Apache-2.0
#include "host/files/exchange.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "base/root.h"
#include "base/unique_fd.h"
#include "host/files/attributes.h"
#include "host/files/remedy.h"

namespace pintle::host {
namespace {

using resource::EntryKind;
using FileState = resource::FileEntry::State;
using TakenOut = std::optional<Existing>;

int UnlinkEntry(int directory, const std::string& name, EntryKind kind) {
  return ::unlinkat(directory, name.c_str(), kind == EntryKind::kDirectory ? AT_REMOVEDIR : 0);
}

bool IsNotEmpty(int errno_value) { return errno_value == ENOTEMPTY || errno_value == EEXIST; }

// The kernel has no such call, or the file system does not support it.
bool CannotBeDone(int errno_value) { return errno_value == EINVAL || errno_value == ENOSYS; }

bool WasDirectory(const Exchange& exchange) { return exchange.existing->kind == EntryKind::kDirectory; }

Result<bool> IsIn(int directory, const std::string& name, const Existing& existing, const FileState& state,
                  const BlobStore& blobs) {
  if (existing.kind != state.kind) return false;
  const int how = existing.kind == EntryKind::kLink ? O_PATH : O_RDONLY | O_NONBLOCK | O_NOCTTY;
  const UniqueFd opened(::openat(directory, name.c_str(), how | O_NOFOLLOW | O_CLOEXEC));
  if (!opened) {
    Error error = Error::FromErrno("opening what is there");
    return IsFaultOfMachine(error) ? std::move(error) : Error(ErrorKind::kConflict, error.message());
  }
  const Attributes have = TRY(ReadAttributes(opened.get(), HowOpened(existing.kind)));
  return IsAs(state, existing, opened.get(), have, blobs);
}

// Returns whether a thing that was touched still is as it was seen.
Result<bool> IsAsSeen(int directory, const std::string& name, const Existing& existing, const Exchange& exchange,
                      const BlobStore& blobs) {
  return exchange.seen && TRY(IsIn(directory, name, existing, *exchange.seen, blobs));
}

// Checks the place before the exchange, so that an edit is normally found before others see the new thing for an
// instant.
Result<> CheckStillThere(const Beside& beside, const Exchange& exchange, const BlobStore& blobs) {
  const int directory = beside.directory.fd();
  const auto existing = TRY(FindExisting(directory, exchange.name));
  if (!existing) return WasEdited();
  if (WasDirectory(exchange) && existing->kind == EntryKind::kDirectory) return {};
  if (IsUntouched(*exchange.existing, *existing)) return {};
  return TRY(IsAsSeen(directory, exchange.name, *existing, exchange, blobs)) ? Result<>() : WasEdited();
}

// Puts back what was taken out of the place.
Result<> GiveBack(const Beside& beside, const Exchange& exchange) {
  const std::string waiting = NameBeside(exchange.name);
  const auto put_back = [&](unsigned flags) -> Result<> {
    const int there = ::renameat2(beside.at, waiting.c_str(), beside.directory.fd(), exchange.name.c_str(), flags);
    return there == 0 ? Result<>() : Error::FromErrno("putting back what someone has changed");
  };
  if (!exchange.made) {
    const auto done = put_back(RENAME_NOREPLACE);
    return done || !CannotBeDone(done.error().errno_value()) ? done : put_back(0);
  }
  TRY(put_back(RENAME_EXCHANGE));
  const auto out = FindExisting(beside.at, waiting);
  // If what comes out is not ours, someone has edited the place again, and that edit stays.
  if (!out || (*out && (*out)->identity != *exchange.made)) TRY(put_back(RENAME_EXCHANGE));
  return ClearBeside(beside.at, exchange.name);
}

// Examines what was taken out of the place, and puts it back if it is not what was seen.
Result<TakenOut> Judge(const Beside& beside, const Exchange& exchange, const BlobStore& blobs) {
  const std::string waiting = NameBeside(exchange.name);
  const auto found = FindExisting(beside.at, waiting);
  if (!found) {
    // It is a pipe or the like.
    TRY(GiveBack(beside, exchange));
    return found.error();
  }
  const auto& out = *found;
  if (!out) return TakenOut();
  if (out->kind == EntryKind::kDirectory) {
    if (WasDirectory(exchange) && UnlinkEntry(beside.at, waiting, out->kind) == 0) return TakenOut();
    TRY(GiveBack(beside, exchange));
    return WasDirectory(exchange) ? IsFull() : WasEdited();
  }
  if (IsUntouchedButRenamed(*exchange.existing, *out)) return out;
  const auto is_as_seen = IsAsSeen(beside.at, waiting, *out, exchange, blobs);
  if (is_as_seen && *is_as_seen) return out;
  TRY(GiveBack(beside, exchange));
  TRY(is_as_seen);
  return WasEdited();
}

// On a file system that cannot exchange, such as vfat, there is an instant in which an edit would be lost, and one in
// which a directory that is replaced does not exist.
Result<TakenOut> ReplacePlainly(const Beside& beside, const Exchange& exchange, const FileState& want) {
  const int directory = beside.directory.fd();
  const bool has_directory = want.kind == EntryKind::kDirectory || WasDirectory(exchange);
  if (has_directory && UnlinkEntry(directory, exchange.name, exchange.existing->kind) != 0) {
    return IsNotEmpty(errno) ? IsFull() : Error::FromErrno("removing what was there");
  }
  if (::renameat(beside.at, NameBeside(exchange.name).c_str(), directory, exchange.name.c_str()) != 0) {
    return Error::FromErrno("rename");
  }
  return TakenOut();
}

}  // namespace

Error WasEdited() {
  return Error(ErrorKind::kConflict,
               "someone has changed it since it was looked at, and it stays as they left it: see `pintle verify`");
}

Error IsFull() { return Error(ErrorKind::kConflict, "a directory with something in it is there: move it away"); }

Result<> PutInPlace(const Beside& beside, const Exchange& exchange, const FileState& want, const BlobStore& blobs) {
  const int directory = beside.directory.fd();
  const std::string waiting = NameBeside(exchange.name);
  int placed = ::renameat2(beside.at, waiting.c_str(), directory, exchange.name.c_str(), RENAME_NOREPLACE);
  if (placed != 0 && CannotBeDone(errno)) {
    if (TRY(FindExisting(directory, exchange.name))) return WasEdited();
    placed = ::renameat(beside.at, waiting.c_str(), directory, exchange.name.c_str());
  }
  if (placed == 0) return {};
  if (errno != EEXIST) return Error::FromErrno("rename");
  // It is fine if someone else has put the same thing there.
  const auto existing = TRY(FindExisting(directory, exchange.name));
  if (!existing || !TRY(IsIn(directory, exchange.name, *existing, want, blobs))) return WasEdited();
  return ClearBeside(beside.at, exchange.name);
}

Result<TakenOut> Replace(const Beside& beside, const Exchange& exchange, const FileState& want,
                         const BlobStore& blobs) {
  TRY(CheckStillThere(beside, exchange, blobs));
  const std::string waiting = NameBeside(exchange.name);
  const int directory = beside.directory.fd();
  if (::renameat2(beside.at, waiting.c_str(), directory, exchange.name.c_str(), RENAME_EXCHANGE) == 0) {
    return Judge(beside, exchange, blobs);
  }
  if (CannotBeDone(errno)) return ReplacePlainly(beside, exchange, want);
  return Error::FromErrno("exchange");
}

Result<TakenOut> TakeOut(const Beside& beside, const Exchange& exchange, const BlobStore& blobs) {
  const int directory = beside.directory.fd();
  if (WasDirectory(exchange)) {
    if (UnlinkEntry(directory, exchange.name, EntryKind::kDirectory) == 0 || errno == ENOENT) return TakenOut();
    if (IsNotEmpty(errno)) return TakenOut();
    return errno == ENOTDIR ? WasEdited() : Error::FromErrno("rmdir");
  }
  if (!TRY(FindExisting(directory, exchange.name))) return TakenOut();
  TRY(CheckStillThere(beside, exchange, blobs));
  if (::renameat(directory, exchange.name.c_str(), beside.at, NameBeside(exchange.name).c_str()) == 0) {
    return Judge(beside, exchange, blobs);
  }
  if (errno == ENOENT) return TakenOut();
  return Error::FromErrno("rename");
}

Result<> RemoveWhatCameOut(const Beside& beside, const Exchange& exchange, const Existing& out,
                           const BlobStore& blobs) {
  const std::string waiting = NameBeside(exchange.name);
  const auto is = TRY(FindExisting(beside.at, waiting));
  if (!is) return {};
  bool is_edited = !IsUntouched(out, *is);
  if (is_edited || (exchange.is_fresh && exchange.seen)) {
    is_edited = !TRY(IsAsSeen(beside.at, waiting, *is, exchange, blobs));
  }
  if (is_edited) {
    TRY(GiveBack(beside, exchange));
    return WasEdited();
  }
  if (::unlinkat(beside.at, waiting.c_str(), 0) != 0 && errno != ENOENT) return Error::FromErrno("unlink");
  return {};
}

}  // namespace pintle::host
