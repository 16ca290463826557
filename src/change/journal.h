// SPDX-License-Identifier: Apache-2.0
#pragma once

// The journal: one small file that records the current change and its progress.
//
// Each write is atomic and durable: after a crash the file has its old contents or its new ones.  A phase can be
// recorded even if the disk is full by then (host/files/paired_file.h).  The contents that the steps and their undo
// need are beside the file.  All of this is in /var/lib/pintle, which all deployments of a machine share.

#include <cstddef>
#include <optional>
#include <string>

#include "base/result.h"
#include "base/root.h"
#include "change/change.h"
#include "host/files/blob_store.h"

namespace pintle::change {

// The directory of the journal and the contents.
inline constexpr const char* kChangeDirectory = "/var/lib/pintle/change";

class Journal {
 public:
  // `root` must outlive the journal.
  explicit Journal(const Root& root) : root_(root) {}

  // Returns the change that is under way, or nullopt.
  Result<std::optional<Change>> Read() const;
  // Returns whether the journal has a change, without reading it.
  Result<bool> HasChange() const;

  // Checks that the journal and all contents of its change can be read.  If there is no change, checks that no
  // directory is in the place of a file that the next change writes.
  Result<> ExpectUsable() const;

  // Opens the store in which the contents of a change are collected before the change begins.  The store is empty,
  // unless a change is under way.  It leaves some space on the disk to others (host/files/room.h).
  Result<host::BlobStore> OpenBlobs() const;

  // Records the change.  From here on, its phase decides what recovery does.  All contents must be durable.  Returns an
  // error if the journal would be too long to be read back.  After an error, the journal is as before.
  Result<> Write(const Change& change) const;

  // Ends the change, whatever its outcome, and removes its journal and contents.
  Result<> Close() const;

 private:
  const Root& root_;
};

// Returns an error if the contents of a file that the change needs are missing; the error names the file.
Result<> ExpectContents(const Change& change, const host::BlobStore& contents);

// Returns the error for a change with this many steps whose journal would have at least this size.
Error TooLongForJournal(std::size_t steps, std::size_t size);

}  // namespace pintle::change
