// SPDX-License-Identifier: Apache-2.0
#include "support/tree.h"

#include <fmt/core.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <fstream>
#include <set>
#include <stdexcept>
#include <string_view>

#include "base/digest.h"

namespace pintle {

namespace fs = std::filesystem;

namespace {

std::string Contents(const fs::path& path, const struct stat& status) {
  if (S_ISLNK(status.st_mode)) return fs::read_symlink(path).string();
  if (!S_ISREG(status.st_mode)) return "";
  std::ifstream in(path, std::ios::binary);
  std::string contents(static_cast<std::size_t>(status.st_size), '\0');
  in.read(contents.data(), status.st_size);
  if (in.gcount() != status.st_size) throw std::runtime_error("cannot read " + path.string());
  return contents;
}

// The kernel's limits for all names and for one value: XATTR_LIST_MAX and XATTR_SIZE_MAX.
constexpr std::size_t kLongestAttributes = 65536;

// Returns the part of `room` that was read, or throws: if an attribute that cannot be read counted as missing,
// different trees would be equal.
std::string_view Checked(ssize_t length, const std::string& room, const fs::path& path) {
  if (length < 0) throw std::runtime_error("cannot read the attributes of " + path.string());
  return std::string_view(room).substr(0, static_cast<std::size_t>(length));
}

std::string Attributes(const fs::path& path) {
  thread_local std::string names(kLongestAttributes, '\0');
  thread_local std::string value(kLongestAttributes, '\0');
  const ssize_t size = ::llistxattr(path.c_str(), names.data(), names.size());
  if (size < 0 && errno == ENOTSUP) return "";
  std::set<std::string> all;
  for (std::string_view rest = Checked(size, names, path); !rest.empty(); rest.remove_prefix(rest.find('\0') + 1)) {
    const char* const name = rest.data();
    const ssize_t length = ::lgetxattr(path.c_str(), name, value.data(), value.size());
    all.insert(fmt::format(" {}={}", name, ToHex(Checked(length, value, path))));
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
