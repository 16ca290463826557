// SPDX-License-Identifier: Apache-2.0
#include "host/files/unsynced.h"

#include <unistd.h>

#include <cstddef>
#include <utility>

namespace pintle::host {
namespace {

constexpr std::size_t kMostSyncedOneByOne = 16;

}  // namespace

void Unsynced::Add(UniqueFd thing) {
  if (syncs_whole_) return;
  one_by_one_.push_back(std::move(thing));
  if (one_by_one_.size() <= kMostSyncedOneByOne) return;
  syncs_whole_ = true;
  one_by_one_.clear();
}

Result<> Unsynced::AddDirectory(const Directory& directory) {
  if (syncs_whole_ || !directories_.insert(directory.identity().inode).second) return {};
  Add(TRY(directory.OpenToRead()));
  return {};
}

Result<> Unsynced::Sync() {
  if (syncs_whole_ && ::syncfs(on_file_system_.get()) != 0) return Error::FromErrno("syncfs");
  for (const UniqueFd& thing : one_by_one_) {
    if (::fsync(thing.get()) != 0) return Error::FromErrno("fsync");
  }
  syncs_whole_ = false;
  one_by_one_.clear();
  directories_.clear();
  return {};
}

}  // namespace pintle::host
