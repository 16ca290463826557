// SPDX-License-Identifier: Apache-2.0
#pragma once

// Observes many entries of the file tree.
//
// Each directory is looked up once for all entries in it.  Later changes of directories may go unnoticed, so an
// Observer should serve one round of observations and not live long.

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

  // `root` must outlive it.
  explicit Observer(const Root& root) : directories_(root) {}

  // Returns the current state of everything that a Put can set, with owners as numbers.  A device node, socket or
  // named pipe is an error, since configs have none.
  Result<std::optional<State>> Observe(const std::string& path);

  // Takes the state of a file from `seen` if the file is unchanged since it was recorded there.  Other files are read,
  // and recorded.
  Result<std::optional<State>> Observe(const std::string& path, SeenFiles& seen);

  // Reads every file, and adds its contents to the store unless the entry is as `unless` wants it.
  Result<std::optional<State>> ObserveAndKeep(const std::string& path, BlobStore& blobs,
                                              const std::optional<State>& unless = std::nullopt);

  // If contents are expected at the path, adds them to the store.
  using KeepExpected = std::function<Result<>(const std::string& path)>;

  // Does not read a file that is unchanged since `seen` recorded that it has the expected contents: `keep_expected`
  // adds these to the store.
  Result<std::optional<State>> ObserveAndKeep(const std::string& path, BlobStore& blobs,
                                              const std::optional<State>& unless, SeenFiles& seen,
                                              const KeepExpected& keep_expected);

  class FileReader;  // Reads one file, and decides what is done with what was read.

 private:
  struct Place {
    Directories::Shared directory;
    std::string name;
  };

  Result<std::optional<State>> ObserveWith(const std::string& path, FileReader& reader);
  Result<std::optional<Place>> Find(const std::string& path);

  Directories directories_;
};

}  // namespace pintle::host
