// SPDX-License-Identifier: Apache-2.0
#pragma once

// Compares versions of an object.

#include <charconv>
#include <cstdint>
#include <string>

namespace pintle::kube {

// Returns whether the resourceVersion `version` is later than `than`.  The store's versions are numbers that grow; a
// text that is not a number counts as zero.
inline bool IsLater(const std::string& version, const std::string& than) {
  const auto number = [](const std::string& text) {
    std::uint64_t value = 0;
    std::from_chars(text.data(), text.data() + text.size(), value);
    return value;
  };
  return number(version) > number(than);
}

// Returns whether `object` is an earlier version of the object `known`, and not another object of the same name.
template <typename T>
bool IsOlder(const T& object, const T& known) {
  return object.metadata.uid == known.metadata.uid &&
         IsLater(known.metadata.resource_version, object.metadata.resource_version);
}

}  // namespace pintle::kube
