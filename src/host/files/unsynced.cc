// SPDX-License-Identifier: Apache-2.0
#include "host/files/unsynced.h"

#include <unistd.h>

#include <cstddef>
#include <utility>

namespace pintle::host {
namespace {

constexpr std::size_t kFew = 16;

}  // namespace

void Unsynced::Add(UniqueFd thing) {
  if (whole_) return;
  few_.push_back(std::move(thing));
  if (few_.size() <= kFew) return;
  whole_ = true;
  few_.clear();
}

Result<> Unsynced::AddDirectory(const Directory& directory) {
  if (whole_ || !directories_.insert(directory.identity().inode).second) return {};
  Add(TRY(directory.OpenToRead()));
  return {};
}

Result<> Unsynced::Sync() {
  if (whole_ && ::syncfs(any_.get()) != 0) return Error::FromErrno("syncfs");
  for (const UniqueFd& thing : few_) {
    if (::fsync(thing.get()) != 0) return Error::FromErrno("fsync");
  }
  whole_ = false;
  few_.clear();
  directories_.clear();
  return {};
}

}  // namespace pintle::host
