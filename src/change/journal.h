// SPDX-License-Identifier: Apache-2.0
#pragma once

// The one small file that says what is being changed, and how far it has come.
//
// It is written whole and durably, so that a crash finds it as it was before or after, and what says how far the change
// has come is written also when the disk is full by then (host/paired_file.h).  Beside it are the contents that the
// steps and their undo need.  All of it is in /var/lib/pintle, which all deployments of a machine share.

#include <cstddef>
#include <optional>
#include <string>

#include "base/result.h"
#include "base/root.h"
#include "change/change.h"
#include "host/blob_store.h"

namespace pintle::change {

inline constexpr const char* kStateDirectory = "/var/lib/pintle";
// The journal with its contents.
inline constexpr const char* kChangeDirectory = "/var/lib/pintle/change";

class Journal {
 public:
  // `root` must outlive it.
  explicit Journal(const Root& root) : root_(root) {}

  // The change that is under way, if any.
  Result<std::optional<Change>> Read() const;
  Result<bool> IsThere() const;

  // Whether all of it can be read, the contents included, and nothing stands in the way of the next one.
  Result<> ExpectUsable() const;

  // Where the contents of a change are collected before it begins: empty, unless one is under way.  They leave some
  // room on the disk to others (host/room.h).
  Result<host::BlobStore> OpenBlobs() const;

  // What follows a crash from here on is what the change's phase says.  All contents must be durable.  One that could
  // not be read back is an error.  After an error the journal is what it was before.
  Result<> Write(const Change& change) const;

  // The change is over, one way or the other: nothing of it is kept.
  Result<> Close() const;

 private:
  const Root& root_;
};

// An error names a file whose contents are needed and are not there.
Result<> ExpectContents(const Change& change, const host::BlobStore& contents);

// The error for a change of so many steps whose journal would be so long, at the least.
Error TooLongForJournal(std::size_t steps, std::size_t size);

}  // namespace pintle::change
