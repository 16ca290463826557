// SPDX-License-Identifier: Apache-2.0
#pragma once

// The files and directories that have to be synced on one file system.
//
// A few are synced one by one, since syncing a file system waits for everything that anyone has written to it; if
// there are many, the whole file system is synced.

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
  // The kernel reports failed writes only to descriptors that were opened before the failure, so `any` is opened
  // first.
  explicit Unsynced(UniqueFd any) : any_(std::move(any)) {}

  void Add(UniqueFd thing);
  // Adds a directory in which names have changed.
  Result<> AddDirectory(const Directory& directory);

  Result<> Sync();

 private:
  UniqueFd any_;
  bool whole_ = false;
  std::vector<UniqueFd> few_;
  std::unordered_set<std::uint64_t> directories_;
};

}  // namespace pintle::host
