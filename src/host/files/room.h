// SPDX-License-Identifier: Apache-2.0
#pragma once

// Limits how much a change may take of the file systems that it writes to.
//
// The kubelet, the system's journal and others go on writing during a change, so a change leaves them some room: bytes
// and inodes.  If less than that is free already, a change may still take an eighth of the free room, so that small
// changes stay possible, such as one that frees space.

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

// Returns how much of the free room a change may take.
Room RoomOf(const Room& free);

// Returns how much a change may take on the file system of this directory, or of the nearest existing one above it.
Result<Room> RoomAt(const Root& root, std::string_view directory);

// Adds up what is going to be written to each file system.
class NeededRoom {
 public:
  // `root` must outlive it.
  explicit NeededRoom(const Root& root) : root_(root) {}

  // Adds a file, a link or a directory in this directory, which need not exist yet.
  Result<> Add(const std::string& directory, std::uint64_t bytes);

  // Returns an error that names a file system with too little room.
  Result<> Expect() const;

 private:
  struct FileSystem {
    std::string directory;  // A directory on it.
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
