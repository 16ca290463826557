// SPDX-License-Identifier: Apache-2.0
#pragma once

// A file that can be replaced while its disk is full.
//
// Beside it lies a spare of the same size.  What is new is written over the contents of the spare, which takes no block
// of the disk that it does not have, and then the two files exchange their names.  Both are filled up with spaces to
// that size, and with some room for contents that grow.  A crash, also a power cut, finds the old contents or the new
// ones, whole.

#include <cstddef>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/root.h"

namespace pintle::host {

class PairedFile {
 public:
  // `root` must outlive it.  The directory of `path` must exist when something is written.
  PairedFile(const Root& root, std::string path);

  // How much longer than the first contents later ones may be without taking more of the disk.
  static constexpr std::size_t kRoomToGrow = 64 << 10;

  // Writes the contents, which end at the first of the spaces that follow them.  The first time this takes the room for
  // all times; if it fails, the contents are the old ones, or there is no file.
  Result<> Write(std::string_view contents) const;

  // Where the spare is.
  std::string spare() const;

  // Removes both.  After an error, the file may still be there.
  Result<> Remove() const;

 private:
  Result<> Begin(int directory, std::string_view contents) const;
  Result<> Replace(int directory, int spare, std::string_view contents) const;

  const Root& root_;
  std::string path_;
  std::string above_;  // Its directory.
  std::string name_;
  std::string spare_;  // The name of the spare.
};

}  // namespace pintle::host
