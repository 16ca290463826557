// SPDX-License-Identifier: Apache-2.0
#include "support/tree.h"

#include <fmt/core.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <set>
#include <stdexcept>

#include "base/digest.h"

namespace pintle {

namespace fs = std::filesystem;

namespace {

std::string Contents(const fs::path& path, const struct stat& status) {
  if (S_ISLNK(status.st_mode)) return fs::read_symlink(path).string();
  if (!S_ISREG(status.st_mode)) return "";
  std::ifstream in(path, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(in), {});
}

std::string Attributes(const fs::path& path) {
  std::array<char, 4096> names;
  const ssize_t size = ::llistxattr(path.c_str(), names.data(), names.size());
  std::set<std::string> all;
  for (ssize_t at = 0; at < size; at += static_cast<ssize_t>(std::strlen(names.data() + at)) + 1) {
    const char* const name = names.data() + at;
    std::array<char, 4096> value;
    const ssize_t length = ::lgetxattr(path.c_str(), name, value.data(), value.size());
    all.insert(
        fmt::format(" {}={}", name, ToHex({value.data(), static_cast<std::size_t>(std::max<ssize_t>(length, 0))})));
  }
  std::string text;
  for (const std::string& attribute : all) text += attribute;
  return text;
}

}  // namespace

std::string DescribeTree(const fs::path& root) {
  std::set<std::string> lines;  // Sorted: directories have no order.
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(root)) {
    struct stat status;
    if (::lstat(entry.path().c_str(), &status) != 0) throw std::runtime_error("lstat " + entry.path().string());
    lines.insert(fmt::format("{} {:o} {}:{}{} {}\n", entry.path().lexically_relative(root).string(), status.st_mode,
                             status.st_uid, status.st_gid, Attributes(entry.path()), Contents(entry.path(), status)));
  }
  std::string all;
  for (const std::string& line : lines) all += line;
  return all;
}

void UseMemoryFileSystem() {
  const std::string probe = "/dev/shm/pintle-test-attributes-" + std::to_string(::getpid());
  std::error_code ignored;  // If this fails, the directory counts as missing.
  if (!fs::create_directory(probe, ignored)) return;
  const bool works = ::setxattr(probe.c_str(), "user.note", "", 0, 0) == 0;
  fs::remove(probe);
  if (works) ::setenv("TMPDIR", "/dev/shm", 1);
}

}  // namespace pintle
