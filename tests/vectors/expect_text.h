// SPDX-License-Identifier: Apache-2.0
#pragma once

// Checks whether Pintle's error contains the Machine Config Operator's message.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <string_view>

namespace pintle::vectors {

inline std::string_view Trimmed(std::string_view text) {
  while (text.ends_with('\n')) text.remove_suffix(1);
  return text;
}

// Returns whether a line of the Operator's message is a part of the config, or the arrow below it.  The Operator prints
// them for a problem in a config of Ignition's spec 2.  Pintle does not, because this part may be a secret.
inline bool IsExcerpt(std::string_view line) {
  return line.starts_with("    1: ") || line.find_first_not_of(" ^") == std::string_view::npos;
}

// Each line of the Operator's message, except excerpts from the config, must be in Pintle's.
inline void ExpectContains(const std::string& ours, std::string_view expected) {
  for (expected = Trimmed(expected); !expected.empty();) {
    const std::size_t end = std::min(expected.find('\n'), expected.size());
    const std::string_view line = expected.substr(0, end);
    expected.remove_prefix(std::min(end + 1, expected.size()));
    if (IsExcerpt(line)) continue;
    EXPECT_THAT(ours, testing::HasSubstr(std::string(line)));
  }
}

}  // namespace pintle::vectors
