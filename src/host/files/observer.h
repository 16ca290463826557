// SPDX-License-Identifier: Apache-2.0
#pragma once

// Observes many entries of the file tree.
//
// Each directory is looked up once for all entries in it, so an Observer can miss that a directory was replaced later.
// Use a new Observer for each round of observations.

#include <functional>
#include <optional>
#include <string>

#include "base/result.h"
#include "base/root.h"
#include "host/files/blob_store.h"
#include "host/files/directories.h"
#include "host/files/seen_files.h"
#include "resource/file_entry.h"

namespace pintle::host {

class Observer {
 public:
  using State = resource::FileEntry::State;

  // `root` must outlive this object.
  explicit Observer(const Root& root) : directories_(root) {}

  // Returns the current state of everything that a Put can set, with owners as numbers.  Returns nullopt if the path
  // does not exist.  A device node, socket or named pipe is an error, since configs cannot have them.  A file that a
  // user may write to, and that is longer than any file of a config, is an error, too, and is not read.
  Result<std::optional<State>> Observe(const std::string& path);

  // Like Observe(), but takes the state of a file from `seen` if the file is unchanged since it was recorded there.
  // Other files are read and recorded.
  Result<std::optional<State>> Observe(const std::string& path, SeenFiles& seen);

  // Observes the entry.  Adds the contents of a file to the store, except if the observed state matches `expected`.
  Result<std::optional<State>> ObserveAndKeep(const std::string& path, BlobStore& blobs,
                                              const std::optional<State>& expected = std::nullopt);

  // Adds to the store the contents that the file at this path is expected to have, if the caller can get these contents
  // without reading the file.
  using KeepExpected = std::function<Result<>(const std::string& path)>;

  // Like the other ObserveAndKeep(), but records in `seen` the files that it reads, and does not read a file if
  // - it is unchanged since `seen` recorded it, and
  // - its recorded state matches `expected`, or the store has its contents.
  // If the store lacks the contents of an unchanged file, calls `keep_expected`, and reads the file only if the store
  // still lacks them afterwards.
  Result<std::optional<State>> ObserveAndKeep(const std::string& path, BlobStore& blobs,
                                              const std::optional<State>& expected, SeenFiles& seen,
                                              const KeepExpected& keep_expected);

  class FileReader;  // Decides whether a file is read, reads it, and decides where its contents go.

 private:
  struct Place {
    Directories::DirectoryPtr directory;
    std::string name;
  };

  Result<std::optional<State>> ObserveWith(const std::string& path, FileReader& reader);
  Result<std::optional<Place>> Find(const std::string& path);

  Directories directories_;
};

}  // namespace pintle::host
