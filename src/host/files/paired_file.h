// SPDX-License-Identifier: Apache-2.0
#pragma once

// A file that can be replaced while its disk is full.
//
// There is a second file of the same size, the spare, in the same directory.  New contents are written over the spare,
// which allocates no blocks, and then the two files exchange their names.  Both files are padded with spaces to the
// same size, so that later contents may be longer.  After a crash, even a power cut, the file has its old or its new
// contents.

#include <cstddef>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/root.h"
#include "base/unique_fd.h"

namespace pintle::host {

class PairedFile {
 public:
  // `root` must outlive this object.  The directory of `path` must exist when Write() is called.
  PairedFile(const Root& root, std::string path);

  // Later contents may be this many bytes longer than the first ones, without a new allocation.
  static constexpr std::size_t kRoomToGrow = 64 << 10;

  // Writes the contents and pads them with spaces.  The first call allocates all space that is needed later.  If a call
  // fails, the file has the old contents or does not exist.  On a file system that cannot exchange two names, it may
  // also have the new contents.
  Result<> Write(std::string_view contents) const;

  // Returns the path of the spare.
  std::string spare() const;

  // Removes both files.  After an error, the file may still exist.
  Result<> Remove() const;

 private:
  Result<> CreateBoth(int directory, std::string_view contents) const;
  Result<UniqueFd> AllocateSpare(int directory, std::size_t size) const;
  Result<> Replace(int directory, int spare, std::string_view contents) const;

  const Root& root_;
  std::string path_;
  std::string above_;  // The directory of the file.
  std::string name_;
  std::string spare_;  // The name of the spare.
};

}  // namespace pintle::host
