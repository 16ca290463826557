// SPDX-License-Identifier: Apache-2.0
#pragma once

// What is in a place, exchanged for what was made beside it, so that nothing is lost that someone does meanwhile.
//
// Whoever edits a file writes into it, or puts another in its place; either may happen at any instant.  So the new
// thing and what is in the place are exchanged by one call, and what has come out is looked at: if it is not what was
// there before, the two are exchanged back.  Who had the old file open can write to it even now: it waits beside the
// place, and is looked at again when it is removed.

#include <optional>
#include <string>

#include "base/result.h"
#include "host/blob_store.h"
#include "host/directories.h"
#include "host/existing.h"
#include "resource/file_entry.h"

namespace pintle::host {

struct Exchange {
  std::string name;
  std::optional<Existing> existing;                // What is in the place.
  std::optional<resource::FileEntry::State> seen;  // What that is, if someone has looked.
  bool is_fresh = false;         // It was touched so shortly before that its times do not tell of a touch after it.
  std::optional<Identity> made;  // What waits beside the place; none: nothing is to be there.
};

// The directory that has the place, and the open one in which things wait beside it.
struct Beside {
  const Directory& directory;
  int at;
};

// What someone has made of the place is a conflict, and stays.
Error WasEdited();
// So is a directory that has something in it.
Error IsFull();

// Of what is to be where nothing was.
Result<> PutInPlace(const Beside& beside, const Exchange& exchange, const resource::FileEntry::State& want,
                    const BlobStore& blobs);
// What has come out, if it waits to be removed.
Result<std::optional<Existing>> Replace(const Beside& beside, const Exchange& exchange,
                                        const resource::FileEntry::State& want, const BlobStore& blobs);
Result<std::optional<Existing>> TakeOut(const Beside& beside, const Exchange& exchange, const BlobStore& blobs);
// The end of it.
Result<> RemoveWhatCameOut(const Beside& beside, const Exchange& exchange, const Existing& out, const BlobStore& blobs);

}  // namespace pintle::host
