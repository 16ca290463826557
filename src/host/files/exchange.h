// SPDX-License-Identifier: Apache-2.0
#pragma once

// Exchanges the thing in a place for one that was made beside it, without losing concurrent edits.
//
// Someone may write into a file, or replace it, at any instant.  So one call exchanges the new thing and the old one,
// and then the old one is examined: if it is not what was there before, the two are exchanged back.  A process that has
// the old file open can write to it even then, so it stays beside the place and is examined again when it is removed.

#include <optional>
#include <string>

#include "base/result.h"
#include "host/files/blob_store.h"
#include "host/files/directories.h"
#include "host/files/existing.h"
#include "resource/file_entry.h"

namespace pintle::host {

struct Exchange {
  std::string name;
  std::optional<Existing> existing;                // The thing in the place.
  std::optional<resource::FileEntry::State> seen;  // Its state, if that has been observed.
  bool is_fresh = false;         // It was modified so recently that a later modification may leave the same times.
  std::optional<Identity> made;  // The thing that was made beside the place; nullopt if the place is to be empty.
};

// The directory that has the place, and the open directory in which new and old things lie meanwhile.
struct Beside {
  const Directory& directory;
  int at;
};

// The error, of the kind kConflict, for a place that someone has edited; the edit stays.
Error WasEdited();
// The error, of the kind kConflict, for a directory that is not empty.
Error IsFull();

// Moves the new thing to a place that should be empty.
Result<> PutInPlace(const Beside& beside, const Exchange& exchange, const resource::FileEntry::State& want,
                    const BlobStore& blobs);
// These return what was taken out of the place, if it is still there to be removed.
Result<std::optional<Existing>> Replace(const Beside& beside, const Exchange& exchange,
                                        const resource::FileEntry::State& want, const BlobStore& blobs);
Result<std::optional<Existing>> TakeOut(const Beside& beside, const Exchange& exchange, const BlobStore& blobs);
// Removes what Replace() or TakeOut() returned, unless someone has changed it since.
Result<> RemoveWhatCameOut(const Beside& beside, const Exchange& exchange, const Existing& out, const BlobStore& blobs);

}  // namespace pintle::host
