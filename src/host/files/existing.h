// SPDX-License-Identifier: Apache-2.0
#pragma once

// Reads the status of an entry in an open directory, and finds out whether the entry has changed since then.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/result.h"
#include "base/unique_fd.h"
#include "host/files/attributes.h"
#include "host/files/blob_store.h"
#include "host/files/directories.h"
#include "host/files/fingerprint.h"
#include "resource/file_entry.h"

namespace pintle::host {

// An entry as statx() has reported it.
struct ExistingEntry {
  resource::EntryKind kind = resource::EntryKind::kFile;
  std::int64_t permissions = 0;
  std::int64_t user = 0;
  std::int64_t group = 0;
  std::uint64_t size = 0;
  std::uint64_t statx_flags = 0;  // STATX_ATTR_...
  Identity identity;
  std::int64_t modified = 0;  // The mtime, in nanoseconds.
  std::int64_t changed = 0;   // The ctime, in nanoseconds.
};

// Returns nullopt if the name does not exist.  Anything but a file, a directory or a link is a conflict, and so is an
// entry whose status cannot be read, unless that is the fault of the machine.
Result<std::optional<ExistingEntry>> FindExisting(int directory, const std::string& name);

// Return an error of the kind kConflict.  The first does so if someone has made the entry immutable or append-only, and
// the second if something is mounted on the entry.
Result<> CheckNotImmutable(std::uint64_t statx_flags, std::string_view subject);
Result<> CheckNotMounted(const ExistingEntry& existing);

// Returns whether nobody has touched a file or link between two reads of its status.  Writes within one tick of the
// file system's clock leave the same times.  So if an entry was touched shortly before the first read, the caller must
// also compare its contents.
bool IsUntouched(const ExistingEntry& was, const ExistingEntry& is);
// Like IsUntouched(), for an entry that was renamed meanwhile.  A rename changes the ctime but not the mtime.
bool IsUntouchedButRenamed(const ExistingEntry& was, const ExistingEntry& is);
// Returns whether the entry has not changed since `moment`.  Then a reader at that moment has seen the current state.
bool IsUnchangedSince(const ExistingEntry& existing, WallTime moment);

// Returns what Fingerprint::Of() returns for the same entry.
Fingerprint FingerprintOf(const ExistingEntry& existing);

// Opens an entry so that its contents and attributes can be read.  It is an error if the name belongs to another entry
// by now.
Result<UniqueFd> OpenExisting(const Directory& directory, const std::string& name, const ExistingEntry& existing);
// Returns how OpenExisting() opens an entry of this kind.
OpenedAs HowOpened(resource::EntryKind kind);

// Returns whether an open entry is in this state.  `have` has its extended attributes, which are compared only if
// `state.attributes` is set.  `blobs` has the contents of the state's file.
Result<bool> IsInState(const resource::FileEntry::State& state, const ExistingEntry& existing, int opened,
                       const Attributes& have, const BlobStore& blobs);

}  // namespace pintle::host
