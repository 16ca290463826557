// SPDX-License-Identifier: Apache-2.0
#pragma once

// What has to reach one file system.
//
// A few things are synced one by one, since syncing a file system waits for all that anyone has written to it; many are
// synced with all of it.

#include <cstdint>
#include <unordered_set>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"
#include "host/directories.h"

namespace pintle::host {

class Unsynced {
 public:
  // The file system tells of failed writes only to whoever opened something on it before.
  explicit Unsynced(UniqueFd any) : any_(std::move(any)) {}

  void Add(UniqueFd thing);
  // One in which names have changed.
  Result<> AddDirectory(const Directory& directory);

  Result<> Sync();

 private:
  UniqueFd any_;
  bool whole_ = false;
  std::vector<UniqueFd> few_;
  std::unordered_set<std::uint64_t> directories_;
};

}  // namespace pintle::host
