// SPDX-License-Identifier: Apache-2.0
#pragma once

// Which of two states of an object is the later one.

#include <charconv>
#include <cstdint>
#include <string>

namespace pintle::kube {

// Whether a resourceVersion is later than another of the same kind.  The store counts them up; what is no number counts
// as the very first.
inline bool IsLater(const std::string& version, const std::string& than) {
  const auto number = [](const std::string& text) {
    std::uint64_t value = 0;
    std::from_chars(text.data(), text.data() + text.size(), value);
    return value;
  };
  return number(version) > number(than);
}

}  // namespace pintle::kube
