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
// Prepare() makes each new entry under a temporary name, even inside a directory that is only prepared itself.  It
// finds all obstacles: no space, no permission, a read-only disk.  It changes nothing that anyone uses.  Commit() is
// one rename for each entry.  A crash may leave entries under temporary names; these are removed when the same paths
// are put again.
//
// Users may own directories on the way to an entry, and swap the contents of these directories at any instant.  So each
// directory is entered as directories.h describes.  A commit looks up the directory again, and fails unless it is the
// directory in which the change was prepared.
//
// Others may edit the entries during the change.  An old entry is examined when it is taken out of its place, and again
// before it is removed.  If someone has edited it since Prepare(), it is put back, and Commit() or Sync() returns a
// conflict.

#include <memory>
#include <optional>

#include "base/result.h"
#include "base/root.h"
#include "host/files/blob_store.h"
#include "host/files/files.h"
#include "host/files/fingerprint.h"
#include "host/files/selinux.h"

namespace pintle::host {

// The result of an earlier observation of an entry.
struct Before {
  const resource::FileEntry::State* state = nullptr;  // Prepare() copies it; null if nothing was there.
  // The fingerprint of a file that was at rest when it was read.  While a file has this fingerprint, it is not read
  // again.  Without a fingerprint, it is read.
  std::optional<Fingerprint> fingerprint = {};
};

class FileChanges {
 public:
  // `root` and `blobs` must outlive this object.
  FileChanges(const Root& root, const BlobStore& blobs, Labels labels = Labels::OfThisMachine());
  ~FileChanges();  // Calls Abandon().
  FileChanges(const FileChanges&) = delete;
  FileChanges& operator=(const FileChanges&) = delete;

  // Does nothing if the entry is as wanted already.  If two paths lead to the same entry, the later change wins.  If
  // `before` is given and the entry differs from it, that is a conflict.
  Result<> Prepare(const FilePut& put, const std::optional<Before>& before = std::nullopt);

  // Commit() must be called in the order in which Prepare() was called.  A change that was not prepared is prepared and
  // synced first.  A directory that should be removed but is not empty stays, since someone else uses it.
  Result<> Commit(const FilePut& put);

  // Deletes the old entries that commits have taken out of their places.  An old entry that cannot be deleted is an
  // error, and is forgotten, so that the next call goes on with the remaining entries.
  Result<> RemoveOldEntries();

  // Calls RemoveOldEntries(), and makes everything durable.
  Result<> Sync();

  // Removes the new entries that were prepared and not committed, and the old entries that were not removed yet.
  void Abandon();

 private:
  class Work;
  std::unique_ptr<Work> work_;
};

// Makes a single change, which is durable when this returns.
Result<> Put(const Root& root, const BlobStore& blobs, const FilePut& put, Labels labels = Labels::OfThisMachine());

}  // namespace pintle::host
