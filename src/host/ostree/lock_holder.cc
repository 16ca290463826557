// SPDX-License-Identifier: Apache-2.0
#include "host/ostree/lock_holder.h"

#include <fmt/core.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "base/ascii.h"

namespace pintle::host {
namespace {

namespace fs = std::filesystem;

bool IsNumber(const std::string& text) { return !text.empty() && std::all_of(text.begin(), text.end(), IsDigit); }

bool IsSame(const fs::path& path, const struct stat& file) {
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0 && status.st_ino == file.st_ino && status.st_dev == file.st_dev;
}

// Returns whether a descriptor has a lock, from its file in /proc/PID/fdinfo.  There the kernel also lists open file
// description locks, whose owner is not in /proc/locks.
bool HasLock(const fs::path& fdinfo_file) {
  std::ifstream lines(fdinfo_file);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("lock:")) return true;
  }
  return false;
}

bool Holds(const fs::path& process, const struct stat& file) {
  std::error_code ignored;  // The process may end meanwhile.
  for (fs::directory_iterator entry(process / "fd", ignored), end; entry != end; entry.increment(ignored)) {
    if (IsSame(entry->path(), file) && HasLock(process / "fdinfo" / entry->path().filename())) return true;
  }
  return false;
}

}  // namespace

std::optional<std::string> LockHolder(const std::string& path) {
  struct stat file {};
  if (::stat(path.c_str(), &file) != 0) return std::nullopt;
  std::error_code ignored;
  for (fs::directory_iterator entry("/proc", ignored), end; entry != end; entry.increment(ignored)) {
    const std::string process = entry->path().filename();
    if (!IsNumber(process) || !Holds(entry->path(), file)) continue;
    std::string name;
    std::getline(std::ifstream(entry->path() / "comm"), name);
    return fmt::format("{} (process {})", name, process);
  }
  return std::nullopt;
}

}  // namespace pintle::host
