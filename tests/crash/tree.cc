// SPDX-License-Identifier: Apache-2.0
#include "crash/tree.h"

#include <fmt/core.h>
#include <sys/stat.h>

#include <fstream>
#include <iterator>
#include <set>
#include <stdexcept>

namespace pintle::crash {

namespace fs = std::filesystem;

namespace {

std::string Contents(const fs::path& path, const struct stat& status) {
  if (S_ISLNK(status.st_mode)) return fs::read_symlink(path).string();
  if (!S_ISREG(status.st_mode)) return "";
  std::ifstream in(path, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(in), {});
}

}  // namespace

std::string Describe(const fs::path& root) {
  std::set<std::string> lines;  // Sorted: directories have no order.
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(root)) {
    struct stat status;
    if (::lstat(entry.path().c_str(), &status) != 0) throw std::runtime_error("lstat " + entry.path().string());
    lines.insert(fmt::format("{} {:o} {}:{} {}\n", fs::relative(entry.path(), root).string(), status.st_mode,
                             status.st_uid, status.st_gid, Contents(entry.path(), status)));
  }
  std::string all;
  for (const std::string& line : lines) all += line;
  return all;
}

}  // namespace pintle::crash
