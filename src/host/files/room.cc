// SPDX-License-Identifier: Apache-2.0
#include "host/files/room.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

#include <algorithm>
#include <cerrno>
#include <limits>

#include "base/unique_fd.h"
#include "host/files/files.h"

namespace pintle::host {
namespace {

constexpr std::uint64_t kUnlimited = std::numeric_limits<std::uint64_t>::max();

std::uint64_t Usable(std::uint64_t free, std::uint64_t left_to_others) {
  return std::max(free > left_to_others ? free - left_to_others : 0, free / 8);
}

// Opens the directory, or the nearest existing one above it.
Result<UniqueFd> OpenNearest(const Root& root, std::string directory) {
  for (;;) {
    auto opened = root.OpenFile(directory, O_PATH | O_DIRECTORY);
    if (opened || directory == "/") return opened;
    const int reason = opened.error().errno_value();
    if (reason != ENOENT && reason != ENOTDIR) return opened;
    directory = DirectoryAbove(directory);
  }
}

struct FileSystemStatus {
  std::uint64_t device = 0;
  std::uint64_t block = 1;
  Room free;
};

Result<FileSystemStatus> ReadStatusAt(const Root& root, const std::string& directory) {
  const auto doing = [&] { return "reading the free space in " + directory; };
  const UniqueFd opened = TRY(OpenNearest(root, directory), doing());
  struct stat status;
  struct statvfs space;
  if (::fstat(opened.get(), &status) != 0) return Error::FromErrno("fstat").While(doing());
  if (::fstatvfs(opened.get(), &space) != 0) return Error::FromErrno("fstatvfs").While(doing());
  FileSystemStatus found = {.device = status.st_dev, .block = std::max<std::uint64_t>(space.f_frsize, 1), .free = {}};
  // Some file systems do not count blocks, and some create inodes as needed.
  found.free.bytes = space.f_blocks == 0 ? kUnlimited : static_cast<std::uint64_t>(space.f_bfree) * found.block;
  found.free.inodes = space.f_files == 0 ? kUnlimited : static_cast<std::uint64_t>(space.f_ffree);
  return found;
}

Error TooLittleSpace(const std::string& directory, const std::string& needed, const std::string& free,
                     const std::string& usable) {
  return Error(
      ErrorKind::kSystem,
      fmt::format("there is too little space on the file system of {}: the change needs {}, but may use only {} of "
                  "the {} that are free; free some space",
                  directory, needed, usable, free));
}

std::string InodesText(std::uint64_t inodes) { return fmt::format("{} inodes", inodes); }

}  // namespace

std::string SizeText(std::uint64_t bytes) {
  constexpr std::uint64_t kMebibyte = 1 << 20;
  return bytes < kMebibyte ? fmt::format("{} KiB", bytes >> 10) : fmt::format("{} MiB", bytes / kMebibyte);
}

Room UsableRoom(const Room& free) {
  return {Usable(free.bytes, kBytesLeftToOthers), Usable(free.inodes, kInodesLeftToOthers)};
}

Result<Room> UsableRoomAt(const Root& root, std::string_view directory) {
  return UsableRoom(TRY(ReadStatusAt(root, std::string(directory))).free);
}

Result<NeededRoom::FileSystem*> NeededRoom::Find(const std::string& directory) {
  if (const auto known = by_directory_.find(directory); known != by_directory_.end()) return known->second;
  const FileSystemStatus found = TRY(ReadStatusAt(root_, directory));
  FileSystem& file_system =
      by_device_.try_emplace(found.device, FileSystem{directory, found.block, found.free, {}}).first->second;
  by_directory_.emplace(directory, &file_system);
  return &file_system;
}

Result<> NeededRoom::Add(const std::string& directory, std::uint64_t bytes) {
  FileSystem& file_system = *TRY(Find(directory));
  file_system.needed.bytes += (bytes + file_system.block - 1) / file_system.block * file_system.block;
  ++file_system.needed.inodes;
  return {};
}

Result<> NeededRoom::ExpectEnough() const {
  for (const auto& [device, file_system] : by_device_) {
    const auto& [directory, block, free, needed] = file_system;
    const Room usable = UsableRoom(free);
    if (needed.bytes > usable.bytes) {
      return TooLittleSpace(directory, SizeText(needed.bytes), SizeText(free.bytes), SizeText(usable.bytes));
    }
    if (needed.inodes > usable.inodes) {
      return TooLittleSpace(directory, InodesText(needed.inodes), InodesText(free.inodes), InodesText(usable.inodes));
    }
  }
  return {};
}

}  // namespace pintle::host
