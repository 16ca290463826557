// SPDX-License-Identifier: Apache-2.0
#pragma once

// Replaces an entry by one that was made under a temporary name, without losing concurrent edits.
//
// Someone may write into a file, or replace it, at any instant.  So one system call exchanges the new entry and the old
// entry.  Then the old entry is examined: if it was edited, the two are exchanged back.  A process that has the old
// file open can still write to it.  So the old file keeps the temporary name, and is examined again when it is removed.
// On a file system that cannot exchange two names, an edit is lost if someone replaces the old file at the instant of
// the rename.

#include <optional>
#include <string>

#include "base/result.h"
#include "host/files/blob_store.h"
#include "host/files/directories.h"
#include "host/files/existing.h"
#include "resource/file_entry.h"

namespace pintle::host {

// A change of one entry: its old state, and the new entry that takes its place.
struct Exchange {
  std::string name;
  // The entry that has the name now, or nullopt if nothing has the name.  Replace() and MoveAside() need the entry.
  std::optional<ExistingEntry> existing;
  std::optional<resource::FileEntry::State> seen;  // The state of that entry, if it has been observed.
  // The entry was modified so recently that a further edit may leave its timestamps as they are, so contents are
  // compared, too.
  bool is_fresh = false;
  std::optional<Identity> new_entry;  // The entry under the temporary name; nullopt if the old entry is only removed.
};

// The two directories of an exchange, which are often the same.
struct ExchangeDirectories {
  const Directory& parent;  // The directory of the entry.
  int workspace;            // The open directory with the temporary names (workspaces.h).
};

// Makes the error, of the kind kConflict, for an entry that someone has edited; the edit stays.
Error EditedError();
// Makes the error, of the kind kConflict, for a directory that is not empty.
Error NotEmptyError();

// Moves the new entry to its name, which should not exist yet.  If an equal entry has the name by now, the new one is
// removed; any other entry there is an error.  On a file system without RENAME_NOREPLACE, every entry there is an
// error.
Result<> PutInPlace(const ExchangeDirectories& directories, const Exchange& exchange,
                    const resource::FileEntry::State& want, const BlobStore& blobs);
// Replace() replaces the entry, and MoveAside() takes its name away.  Both return the old entry if it has the temporary
// name now and must be deleted, and nullopt otherwise.  MoveAside() deletes a directory at once, but only if it is
// empty.
Result<std::optional<ExistingEntry>> Replace(const ExchangeDirectories& directories, const Exchange& exchange,
                                             const resource::FileEntry::State& want, const BlobStore& blobs);
Result<std::optional<ExistingEntry>> MoveAside(const ExchangeDirectories& directories, const Exchange& exchange,
                                               const BlobStore& blobs);
// Deletes the old entry that Replace() or MoveAside() returned.  If someone has changed it since, puts it back and
// returns EditedError().
Result<> DeleteOldEntry(const ExchangeDirectories& directories, const Exchange& exchange,
                        const ExistingEntry& old_entry, const BlobStore& blobs);

}  // namespace pintle::host
