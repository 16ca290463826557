// SPDX-License-Identifier: Apache-2.0
#pragma once

// What a change may take of the file systems that it writes to.
//
// The kubelet, the system's journal and all others go on writing while a machine is changed, so a change leaves some
// room to them: bytes and inodes.  Where that little is free already, a change may still take an eighth of it, so that
// small changes, such as the one that makes room, go on as long as can be.

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

// "3 MiB", or "200 KiB" of less than one.
std::string SizeText(std::uint64_t bytes);

// What of that much that is free a change may take.
Room RoomOf(const Room& free);

// What a change may take where this directory is, or the nearest one above it that there is.
Result<Room> RoomAt(const Root& root, std::string_view directory);

// Adds up what is going to be written, by file systems.
class NeededRoom {
 public:
  // `root` must outlive it.
  explicit NeededRoom(const Root& root) : root_(root) {}

  // A file, a link or a directory that is made in this directory, which need not be there yet.
  Result<> Add(const std::string& directory, std::uint64_t bytes);

  // An error names the file system on which there is too little.
  Result<> Expect() const;

 private:
  struct FileSystem {
    std::string directory;  // One that is on it.
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
