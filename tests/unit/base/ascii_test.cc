// SPDX-License-Identifier: Apache-2.0
#include "base/ascii.h"

#include <gtest/gtest.h>

namespace pintle {
namespace {

TEST(Ascii, ClassesHaveAsciiCharactersOnly) {
  for (int code = -128; code < 128; ++code) {
    const char c = static_cast<char>(code);
    EXPECT_EQ(IsDigit(c), std::string_view("0123456789").find(c) != std::string_view::npos) << code;
    EXPECT_EQ(IsLower(c), std::string_view("abcdefghijklmnopqrstuvwxyz").find(c) != std::string_view::npos) << code;
    EXPECT_EQ(IsUpper(c), std::string_view("ABCDEFGHIJKLMNOPQRSTUVWXYZ").find(c) != std::string_view::npos) << code;
    EXPECT_EQ(IsLetter(c), IsLower(c) || IsUpper(c)) << code;
    EXPECT_EQ(IsLetterOrDigit(c), IsLetter(c) || IsDigit(c)) << code;
  }
}

TEST(InLowerCase, ChangesAsciiLettersAlone) { EXPECT_EQ(InLowerCase("aZ9_\xC3\x84"), "az9_\xC3\x84"); }

TEST(SameIgnoringCase, ComparesWholeTexts) {
  EXPECT_TRUE(SameIgnoringCase("Content-Length", "content-length"));
  EXPECT_FALSE(SameIgnoringCase("Content", "content-length"));
  EXPECT_FALSE(SameIgnoringCase("[", "{"));  // They differ in the same bit as the cases of a letter.
}

}  // namespace
}  // namespace pintle
