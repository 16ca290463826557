// SPDX-License-Identifier: Apache-2.0
#include "json/byte_runs.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <string>
#include <vector>

namespace pintle::json {
namespace {

using Skip = const char* (*)(const char* at, const char* end);

std::size_t LengthOf(Skip skip, const std::string& text) {
  // The sanitizers find accesses outside of this copy, which has no byte behind the text.
  const std::vector<char> exact(text.begin(), text.end());
  return static_cast<std::size_t>(skip(exact.data(), exact.data() + exact.size()) - exact.data());
}

TEST(ByteRuns, EndAtEachByteThatDoesNotBelongToThemAtEachPlace) {
  for (std::size_t before = 0; before < 40; ++before) {
    for (const std::size_t after : {std::size_t{0}, std::size_t{1}, std::size_t{20}}) {
      for (int byte = 0; byte < 256; ++byte) {
        const char c = static_cast<char>(byte);
        for (const char plain : {'x', ' ', '~', '#', '['}) {
          const std::string text = std::string(before, plain) + c + std::string(after, plain);
          const std::size_t expected = IsPlainByte(c) ? text.size() : before;
          ASSERT_EQ(LengthOf(SkipPlainBytes, text), expected) << before << " " << byte;
          ASSERT_EQ(LengthOf(portable::SkipPlainBytes, text), expected) << before << " " << byte;
        }
        for (const char blank : {' ', '\n', '\t', '\r'}) {
          const std::string text = std::string(before, blank) + c + std::string(after, blank);
          const std::size_t expected = IsBlankByte(c) ? text.size() : before;
          ASSERT_EQ(LengthOf(SkipBlankBytes, text), expected) << before << " " << byte;
          ASSERT_EQ(LengthOf(portable::SkipBlankBytes, text), expected) << before << " " << byte;
        }
      }
    }
  }
}

TEST(ByteRuns, MayBeEmpty) {
  for (const Skip skip : {SkipPlainBytes, SkipBlankBytes, portable::SkipPlainBytes, portable::SkipBlankBytes}) {
    EXPECT_EQ(skip(nullptr, nullptr), nullptr);
  }
}

TEST(ByteRuns, KnowWhichBytesBelongToThem) {
  for (const char c : {'"', '\\', '\n', '\x1f', '\x80', '\xff', '\0'}) EXPECT_FALSE(IsPlainByte(c));
  for (const char c : {' ', '!', '#', '[', ']', '\x7f', 'a'}) EXPECT_TRUE(IsPlainByte(c));
  for (const char c : {'\v', '\f', '\0', '\xa0', 'a'}) EXPECT_FALSE(IsBlankByte(c));
}

}  // namespace
}  // namespace pintle::json
