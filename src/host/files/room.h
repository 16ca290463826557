// SPDX-License-Identifier: Apache-2.0
#pragma once

// Limits the space that a change may use on the file systems to which it writes.
//
// The kubelet, the system's journal and other programs go on writing during a change.  So a change leaves them some of
// the free room, which is bytes and inodes.  But a change may always use an eighth of the free room, however little is
// free.  So small changes stay possible, such as a change that frees space.

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>

#include "base/result.h"
#include "base/root.h"

namespace pintle::host {

inline constexpr std::uint64_t kBytesLeftToOthers = 64 << 20;
inline constexpr std::uint64_t kInodesLeftToOthers = 1024;

struct Room {
  std::uint64_t bytes = 0;
  std::uint64_t inodes = 0;
};

// Returns a text such as "3 MiB", or "200 KiB" if it is less than one MiB.
std::string SizeText(std::uint64_t bytes);

// Returns how much of the free room a change may use.
Room UsableRoom(const Room& free);

// Returns how much room a change may use on the file system of this directory.  If the directory does not exist, this
// is the file system of the nearest directory above it.
Result<Room> UsableRoomAt(const Root& root, std::string_view directory);

// Adds up the room that a change needs on each file system.
class NeededRoom {
 public:
  // `root` must outlive this object.
  explicit NeededRoom(const Root& root) : root_(root) {}

  // Adds a file, a link or a directory that will be made in `directory`, which need not exist yet.
  Result<> Add(const std::string& directory, std::uint64_t bytes);

  // Returns an error if a file system has too little room.  The error names a directory on that file system.
  Result<> ExpectEnough() const;

 private:
  struct FileSystem {
    std::string directory;  // A directory on this file system.
    std::uint64_t block = 1;
    Room free;
    Room needed;
  };

  Result<FileSystem*> Find(const std::string& directory);

  const Root& root_;
  std::map<std::uint64_t, FileSystem> by_device_;
  std::unordered_map<std::string, FileSystem*> by_directory_;
};

}  // namespace pintle::host
