// SPDX-License-Identifier: Apache-2.0
#pragma once

// Changes many files, directories and links, and makes them durable together.
//
//     FileChanges changes(root, blobs, labels);
//     for (const FilePut& put : puts) TRY(changes.Prepare(put));
//     TRY(changes.Sync());
//     for (const FilePut& put : puts) TRY(changes.Commit(put));
//     TRY(changes.Sync());
//
// Prepare makes each thing beside its place, inside a directory that does not exist yet if need be, and finds all
// obstacles: no space, no permission, a read-only disk.  It changes nothing that anyone uses.  Commit is one rename
// for each thing.  A crash leaves things beside their places; putting the same paths again clears them.
//
// Users may own directories on the way, and swap what is in them at any instant: each directory is entered as
// directories.h describes, and a commit uses the descriptor of the directory that was judged, which must be the one
// in which the change was prepared.
//
// Others may edit what is being changed.  What an exchange takes out of a place is examined then, and again before it
// is removed: if it is not what was there when the change was prepared, it is put back, and Commit or Sync returns a
// conflict.

#include <memory>
#include <optional>

#include "base/clock.h"
#include "base/result.h"
#include "base/root.h"
#include "host/files/blob_store.h"
#include "host/files/files.h"
#include "host/files/selinux.h"

namespace pintle::host {

// What was observed in a place.
struct Before {
  const resource::FileEntry::State* state = nullptr;  // Must live as long as the change; null if nothing was there.
  // The time of the observation.  What has not changed since then is not read again.  Without a time everything is
  // compared.
  std::optional<WallTime> looked_at;
};

class FileChanges {
 public:
  // `root` and `blobs` must outlive it.
  FileChanges(const Root& root, const BlobStore& blobs, Labels labels = Labels::OfThisMachine());
  ~FileChanges();  // Calls Abandon().
  FileChanges(const FileChanges&) = delete;
  FileChanges& operator=(const FileChanges&) = delete;

  // Does nothing if the thing is there as wanted.  Of two changes of the same place, the later one wins.  If `before`
  // is given and the place differs from it, that is a conflict.
  Result<> Prepare(const FilePut& put, const std::optional<Before>& before = std::nullopt);

  // Commits must come in the order of Prepare().  A change that was not prepared is prepared and synced first.  A
  // directory that is to be removed and is not empty stays, since someone else uses it.
  Result<> Commit(const FilePut& put);

  // Removes what the commits since the last call have replaced or removed, and makes everything durable.
  Result<> Sync();

  // Removes what was prepared and not committed.
  void Abandon();

 private:
  class Work;
  std::unique_ptr<Work> work_;
};

// Makes a single change, which is durable when this returns.
Result<> Put(const Root& root, const BlobStore& blobs, const FilePut& put, Labels labels = Labels::OfThisMachine());

}  // namespace pintle::host
