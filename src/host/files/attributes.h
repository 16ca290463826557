// SPDX-License-Identifier: Apache-2.0
#pragma once

// Extended attributes of files, directories and links: access lists, SELinux labels, capabilities, and attributes that
// users set.

#include <map>
#include <string>

#include "base/result.h"

namespace pintle::host {

// Maps names to values, which are the kernel's bytes.
using Attributes = std::map<std::string, std::string>;

inline constexpr const char* kSelinuxLabel = "security.selinux";

// The way in which the descriptor of a file was opened.
enum class OpenedAs {
  kItself,  // Without O_PATH.  Its attributes are accessed through the descriptor.
  kPath,    // With O_PATH, which is the only way to open a link.  Its attributes are accessed through /proc.
};

// Returns all attributes except for those that only the kernel writes.  On a file system without attributes, the result
// is empty.  Attributes of more than a mebibyte in total are a conflict.
Result<Attributes> ReadAttributes(int fd, OpenedAs opened_as);

// SetAttributes() keeps or removes the attributes that its parameter `wanted` does not name.
enum class OtherAttributes { kKeep, kRemove };

// Makes the attributes as wanted, and returns whether any attribute had to be changed.
Result<bool> SetAttributes(int fd, OpenedAs opened_as, const Attributes& wanted, OtherAttributes others);

// Returns whether `have` equals `wanted`.  If `wanted` has no SELinux label, the label in `have` does not count.
template <typename Map>
bool AreAsWanted(const Map& wanted, Map have) {
  if (!wanted.contains(kSelinuxLabel)) have.erase(kSelinuxLabel);
  return wanted == have;
}

// Convert between the kernel's bytes and base64, which FileEntry::State has as the values of attributes.
std::map<std::string, std::string> ToText(const Attributes& attributes);
Result<Attributes> FromText(const std::map<std::string, std::string>& text);

}  // namespace pintle::host
