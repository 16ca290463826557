// SPDX-License-Identifier: Apache-2.0
#pragma once

// Recognizes a file that has not changed since it was read.
//
// A write changes the ctime, which nobody can set.  So a file with the same fingerprint is unchanged, if it was at rest
// when it was read: writes within one tick of the file system's clock leave the same ctime.  Only equal times count.  A
// comparison with the time of the reading would be wrong after the clock was put back.

#include <sys/stat.h>

#include <cstdint>
#include <string>
#include <unordered_map>

namespace pintle::host {

struct Fingerprint {
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
  std::int64_t size = 0;
  std::int64_t modified = 0;  // The mtime, in nanoseconds.
  std::int64_t changed = 0;   // The ctime, in nanoseconds.

  static Fingerprint Of(const struct stat& status);
  bool operator==(const Fingerprint&) const = default;
};

// The fingerprints of files that were at rest when they were read, by path.
using Fingerprints = std::unordered_map<std::string, Fingerprint>;

}  // namespace pintle::host
