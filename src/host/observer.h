// SPDX-License-Identifier: Apache-2.0
#pragma once

// Entries of the file tree, looked at one after the other.
//
// A directory is looked up once for all that is looked at in it.  What happens to directories meanwhile may go unseen,
// so that one of these is for one round, and not for long.

#include <functional>
#include <optional>
#include <string>

#include "base/result.h"
#include "base/root.h"
#include "host/blob_store.h"
#include "host/directories.h"
#include "host/seen_files.h"
#include "resource/file_entry.h"

namespace pintle::host {

class Observer {
 public:
  using State = resource::FileEntry::State;

  // `root` must outlive it.
  explicit Observer(const Root& root) : directories_(root) {}

  // All that a Put can set, as it is now; owners by number.  A device node, socket or named pipe is an error: such are
  // not ours.
  Result<std::optional<State>> Observe(const std::string& path);

  // The same; a file that has not been touched since it was seen is not read, and one that is read has been seen.
  Result<std::optional<State>> Observe(const std::string& path, SeenFiles& seen);

  // The same, with the contents added to the store, unless the entry is as it is wanted.
  Result<std::optional<State>> ObserveAndKeep(const std::string& path, BlobStore& blobs,
                                              const std::optional<State>& unless = std::nullopt);

  // Adds to the store what a path is expected to have in it, if anything is.
  using KeepExpected = std::function<Result<>(const std::string& path)>;

  // The same; a file that has not been touched since it was seen to have what is expected is not read again.
  Result<std::optional<State>> ObserveAndKeep(const std::string& path, BlobStore& blobs,
                                              const std::optional<State>& unless, SeenFiles& seen,
                                              const KeepExpected& keep_expected);

  class Reading;  // What becomes of a file that is read.

 private:
  struct Place {
    Directories::Shared directory;
    std::string name;
  };

  Result<std::optional<State>> ObserveWith(const std::string& path, Reading& reading);
  Result<std::optional<Place>> Find(const std::string& path);

  Directories directories_;
};

}  // namespace pintle::host
