// SPDX-License-Identifier: Apache-2.0
#include "host/files/attributes.h"

#include <fmt/core.h>
#include <sys/xattr.h>

#include <string_view>
#include <utility>

#include "base/base64.h"

namespace pintle::host {
namespace {

// The kernel writes this attribute as a seal over the other attributes, so we never copy or compare it.
constexpr std::string_view kKernelSeal = "security.evm";

// Limits the names and values of the attributes of one entry, all together.  The owner of a file can give it thousands
// of attributes of 64 KiB each, and all of them are read into memory.
constexpr std::size_t kMostAttributeBytes = 1 << 20;

Error TooManyAttributes() {
  return Error(ErrorKind::kConflict,
               "it has too many extended attributes: see `getfattr --dump`, and remove some with `setfattr --remove`");
}

// Makes the system calls for attributes by descriptor, or by path if the descriptor was opened with O_PATH.
class OpenEntry {
 public:
  OpenEntry(int fd, OpenedAs opened_as) : fd_(fd) {
    if (opened_as == OpenedAs::kPath) path_ = fmt::format("/proc/self/fd/{}", fd);
  }

  ssize_t List(char* names, std::size_t size) const {
    return path_.empty() ? ::flistxattr(fd_, names, size) : ::listxattr(path_.c_str(), names, size);
  }
  ssize_t Get(const char* name, char* value, std::size_t size) const {
    return path_.empty() ? ::fgetxattr(fd_, name, value, size) : ::getxattr(path_.c_str(), name, value, size);
  }
  int Set(const char* name, const std::string& value) const {
    return path_.empty() ? ::fsetxattr(fd_, name, value.data(), value.size(), 0)
                         : ::setxattr(path_.c_str(), name, value.data(), value.size(), 0);
  }
  int Remove(const char* name) const {
    return path_.empty() ? ::fremovexattr(fd_, name) : ::removexattr(path_.c_str(), name);
  }

 private:
  int fd_;
  std::string path_;
};

// Repeats the call with a larger buffer until the value fits.  `call` gets the buffer and its size, and returns the
// length of the value.
template <typename Call>
Result<std::string> ReadUntilItFits(const char* doing, Call&& call) {
  std::string bytes(256, '\0');
  for (;;) {
    const ssize_t length = call(bytes.data(), bytes.size());
    if (length >= 0) {
      bytes.resize(static_cast<std::size_t>(length));
      return bytes;
    }
    if (errno != ERANGE) return Error::FromErrno(doing);
    bytes.resize(bytes.size() * 4);
  }
}

Result<Attributes> Read(const OpenEntry& entry) {
  auto listed = ReadUntilItFits("listing extended attributes",
                                [&](char* buffer, std::size_t size) { return entry.List(buffer, size); });
  if (!listed && listed.error().errno_value() == ENOTSUP) return Attributes{};
  if (!listed && listed.error().errno_value() == E2BIG) return TooManyAttributes();
  const std::string names = TRY(std::move(listed));
  std::size_t total = names.size();
  Attributes attributes;
  for (std::string_view left = names; !left.empty();) {
    const std::string name(left.substr(0, left.find('\0')));
    left.remove_prefix(name.size() + 1);
    if (name == kKernelSeal) continue;
    auto value = ReadUntilItFits("reading the value",
                                 [&](char* buffer, std::size_t size) { return entry.Get(name.c_str(), buffer, size); });
    if (!value && value.error().errno_value() == ENODATA) continue;  // Someone has removed the attribute meanwhile.
    attributes.emplace(name, TRY(std::move(value), "extended attribute " + name));
    total += attributes.at(name).size();
    if (total > kMostAttributeBytes) return TooManyAttributes();
  }
  return attributes;
}

}  // namespace

Result<Attributes> ReadAttributes(int fd, OpenedAs opened_as) { return Read(OpenEntry(fd, opened_as)); }

Result<bool> SetAttributes(int fd, OpenedAs opened_as, const Attributes& wanted, OtherAttributes others) {
  if (wanted.empty() && others == OtherAttributes::kKeep) return false;
  const OpenEntry entry(fd, opened_as);
  bool differed = false;
  const Attributes have = TRY(Read(entry));
  for (const auto& [name, value] : have) {
    // A label can be changed, but not removed.
    if (others == OtherAttributes::kKeep || name == kSelinuxLabel || wanted.contains(name)) continue;
    if (entry.Remove(name.c_str()) != 0 && errno != ENODATA) {
      return Error::FromErrno("removing the value").While("extended attribute " + name);
    }
    differed = true;
  }
  for (const auto& [name, value] : wanted) {
    if (const auto found = have.find(name); found != have.end() && found->second == value) continue;
    if (entry.Set(name.c_str(), value) != 0)
      return Error::FromErrno("setting the value").While("extended attribute " + name);
    differed = true;
  }
  return differed;
}

std::map<std::string, std::string> ToText(const Attributes& attributes) {
  std::map<std::string, std::string> text;
  for (const auto& [name, value] : attributes) text.emplace(name, EncodeBase64(value));
  return text;
}

Result<Attributes> FromText(const std::map<std::string, std::string>& text) {
  Attributes attributes;
  for (const auto& [name, value] : text) {
    auto bytes = DecodeBase64(value);
    if (!bytes) return Error(ErrorKind::kInvalid, fmt::format("the value of attribute {} is not base64", name));
    attributes.emplace(name, *std::move(bytes));
  }
  return attributes;
}

}  // namespace pintle::host
