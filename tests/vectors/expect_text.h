// SPDX-License-Identifier: Apache-2.0
#pragma once

// Checks whether an error of ours contains the Machine Config Operator's message.

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

// The operator prints the text before a problem of spec 2, with an arrow below.  We do not, since it may be a secret.
inline bool IsExcerpt(std::string_view line) {
  return line.starts_with("    1: ") || line.find_first_not_of(" ^") == std::string_view::npos;
}

// Each line of the operator's text must be in ours.
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
