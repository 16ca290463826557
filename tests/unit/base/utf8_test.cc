// SPDX-License-Identifier: Apache-2.0
#include "base/utf8.h"

#include <string>
#include <string_view>

#include "support/expect.h"

namespace pintle {
namespace {

TEST(Utf8, AcceptsTextInAnyScript) {
  for (const std::string_view text : {"", "plain", "\x7F", "grüße", "€", "\xED\x9F\xBF", "😀", "\xF4\x8F\xBF\xBF"}) {
    EXPECT_TRUE(IsUtf8(text)) << text;
  }
}

TEST(Utf8, RefusesBytesThatAreNotUtf8) {
  const std::string_view broken[] = {"\x80",
                                     "a\xFF",
                                     "\xC3",
                                     "\xC3(",
                                     "\xC0\xAF",
                                     "\xE0\x80\x80",
                                     "\xED\xA0\x80",
                                     "\xE2\x82",
                                     "\xF0\x80\x80\x80",
                                     "\xF4\x90\x80\x80",
                                     "\xF5\x80\x80\x80",
                                     "\xE2(\xA1"};
  for (const std::string_view bytes : broken) EXPECT_FALSE(IsUtf8(bytes)) << bytes.size();
}

// The bytes and lengths are those of a table in the Unicode Standard (chapter 3.9, U+FFFD substitution of maximal
// subparts).
TEST(Utf8, CountsBytesOfAnIncompleteCharacterAsOne) {
  std::string_view rest = "\xE1\x80\xE2\xF0\x91\x92\xF1\xBF\x41";
  for (const std::size_t length : {2U, 1U, 3U, 2U}) {
    const Utf8Character first = FirstUtf8Character(rest);
    EXPECT_FALSE(first.is_valid);
    ASSERT_EQ(first.length, length);
    rest.remove_prefix(length);
  }
  EXPECT_TRUE(FirstUtf8Character(rest).is_valid);
}

TEST(Utf8, EncodesTheFirstAndTheLastCharacterOfEachLength) {
  std::string text;
  for (const char32_t code : {0x00U, 0x7FU, 0x80U, 0x7FFU, 0x800U, 0xFFFFU, 0x10000U, 0x10FFFFU}) {
    AppendUtf8(code, text);
  }
  EXPECT_EQ(text, std::string("\0\x7F\xC2\x80\xDF\xBF\xE0\xA0\x80\xEF\xBF\xBF\xF0\x90\x80\x80\xF4\x8F\xBF\xBF", 20));
}

}  // namespace
}  // namespace pintle
