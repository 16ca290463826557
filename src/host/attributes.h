// SPDX-License-Identifier: Apache-2.0
#pragma once

// Extended attributes of files, directories and links: access lists, SELinux labels, capabilities, what users add.

#include <map>
#include <string>

#include "base/result.h"

namespace pintle::host {

// By name, with the bytes that the kernel has.
using Attributes = std::map<std::string, std::string>;

inline constexpr const char* kSelinuxLabel = "security.selinux";

// How the thing is open whose attributes are meant.
enum class OpenedAs {
  kItself,
  kPath,  // With O_PATH, as links can only be; needs /proc.
};

// All but what the kernel alone may write.  None where the file system has no attributes.
Result<Attributes> ReadAttributes(int fd, OpenedAs opened_as);

enum class OtherAttributes { kKeep, kRemove };

// Sets these, and only where something differs.  Whether something did.
Result<bool> SetAttributes(int fd, OpenedAs opened_as, const Attributes& wanted, OtherAttributes others);

// Whether `have` is just what is wanted.  A label of which nothing is said may be any.
template <typename Map>
bool AreAsWanted(const Map& wanted, Map have) {
  if (!wanted.contains(kSelinuxLabel)) have.erase(kSelinuxLabel);
  return wanted == have;
}

// In plain data, values are in base64.
std::map<std::string, std::string> ToText(const Attributes& attributes);
Result<Attributes> FromText(const std::map<std::string, std::string>& text);

}  // namespace pintle::host
