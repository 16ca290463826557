// SPDX-License-Identifier: Apache-2.0
#pragma once

// Many changes of the file tree, made durable together.
//
//     FileChanges changes(root, blobs, labels);
//     for (const FilePut& put : puts) TRY(changes.Prepare(put));
//     TRY(changes.Sync());
//     for (const FilePut& put : puts) TRY(changes.Commit(put));
//     TRY(changes.Sync());
//
// Prepare makes each thing beside its place, in a directory that is not there yet if need be, and finds all that stands
// in the way: no space, no right, a disk that is read-only.  Nothing that anyone looks at changes.  Commit is one
// rename each.  A crash leaves things beside their places; putting the same paths again clears them.
//
// Users may own directories on the way, and swap what is in them at any instant: each directory is entered as
// directories.h says, and what is committed goes by the descriptor of the one that was judged, which must be the one
// that it was prepared in.
//
// Others may edit what is being changed.  What comes out of a place in the exchange for the new thing is looked at, and
// once more before it is removed: if it is not what was there when the change was prepared, it goes back, and Commit or
// Sync is a conflict.

#include <memory>
#include <optional>

#include "base/clock.h"
#include "base/result.h"
#include "base/root.h"
#include "host/blob_store.h"
#include "host/files.h"
#include "host/selinux.h"

namespace pintle::host {

// What someone has seen in a place.
struct Before {
  const resource::FileEntry::State* state = nullptr;  // Must live as long as the change; none: nothing was there.
  // When it was looked at.  What has rested since then is what was seen, and is not read once more.  Without it
  // everything is compared.
  std::optional<WallTime> looked_at;
};

class FileChanges {
 public:
  // Root and store must outlive it.
  FileChanges(const Root& root, const BlobStore& blobs, Labels labels = Labels::OfThisMachine());
  ~FileChanges();  // Abandons.
  FileChanges(const FileChanges&) = delete;
  FileChanges& operator=(const FileChanges&) = delete;

  // What is there as wanted is left alone.  Of two for the same place, the later one counts.  What is there must be as
  // it was before, if that is given, or it is a conflict.
  Result<> Prepare(const FilePut& put, const std::optional<Before>& before = std::nullopt);

  // In the order in which they were prepared.  What was not prepared is prepared and synced first.  A directory that is
  // to go and has something in it stays: someone else uses it.
  Result<> Commit(const FilePut& put);

  // What was replaced or removed by the commits since the last call is gone after this, and all is durable.
  Result<> Sync();

  // Removes what was prepared and not committed.
  void Abandon();

 private:
  class Work;
  std::unique_ptr<Work> work_;
};

// One change, which is durable when this returns.
Result<> Put(const Root& root, const BlobStore& blobs, const FilePut& put, Labels labels = Labels::OfThisMachine());

}  // namespace pintle::host
