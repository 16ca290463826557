// SPDX-License-Identifier: Apache-2.0
#pragma once

// Collects the files and directories that have to be synced on one file system.
//
// If there are only a few, they are synced one by one, since syncing a file system waits for everything that anyone has
// written to it.  If there are many, the whole file system is synced.

#include <cstdint>
#include <unordered_set>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"
#include "host/files/directories.h"

namespace pintle::host {

class Unsynced {
 public:
  // `on_file_system` is a descriptor of any file on the file system.  It must be opened before the first write, since
  // the kernel reports a failed write only to descriptors that were opened before the failure.
  explicit Unsynced(UniqueFd on_file_system) : on_file_system_(std::move(on_file_system)) {}

  // Adds a file or a directory.
  void Add(UniqueFd thing);
  // Adds a directory in which names have changed.
  Result<> AddDirectory(const Directory& directory);

  // Makes everything durable that was added since the last call.
  Result<> Sync();

 private:
  UniqueFd on_file_system_;
  bool syncs_whole_ = false;                       // Sync() syncs the whole file system.
  std::vector<UniqueFd> one_by_one_;               // Sync() syncs these one by one.
  std::unordered_set<std::uint64_t> directories_;  // The inodes of directories in `one_by_one_`.
};

}  // namespace pintle::host
