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
// rename or removal each.  A crash leaves things beside their places; putting the same paths again clears them.

#include <memory>

#include "base/result.h"
#include "base/root.h"
#include "host/blob_store.h"
#include "host/files.h"
#include "host/selinux.h"

namespace pintle::host {

class FileChanges {
 public:
  // Root and store must outlive it.
  FileChanges(const Root& root, const BlobStore& blobs, Labels labels = Labels::OfThisMachine());
  ~FileChanges();  // Abandons.
  FileChanges(const FileChanges&) = delete;
  FileChanges& operator=(const FileChanges&) = delete;

  // What is there as wanted is left alone.  Of two for the same path, the later one counts.  `was` is what the entry
  // was a moment ago, if the caller has looked: what still looks like that is not read once more.
  Result<> Prepare(const FilePut& put, const resource::FileEntry::State* was = nullptr);

  // In the order in which they were prepared.  What was not prepared, or was prepared where something else has changed
  // since, is prepared and synced first.  A directory that is to go and has something in it stays: someone else uses
  // it.
  Result<> Commit(const FilePut& put);

  // All that was prepared or committed since the last call is durable after this.
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
