// SPDX-License-Identifier: Apache-2.0
#include "gotext/quote.h"

#include <gtest/gtest.h>

namespace pintle::gotext {
namespace {

TEST(Quoted, EscapesTheCharactersThatGoEscapes) {
  EXPECT_EQ(Quoted(""), R"("")");
  EXPECT_EQ(Quoted("say \"hi\" \\ 'x'"), R"("say \"hi\" \\ 'x'")");
  EXPECT_EQ(Quoted("\a\b\f\n\r\t\v"), R"("\a\b\f\n\r\t\v")");
  EXPECT_EQ(Quoted(std::string_view("\0\x1f\x7f", 3)), R"("\x00\x1f\x7f")");
}

TEST(Quoted, KeepsLettersOfAnyLanguage) { EXPECT_EQ(Quoted("Prüfung 検査 🙂"), "\"Prüfung 検査 🙂\""); }

TEST(Quoted, EscapesInvisibleCharacters) {
  EXPECT_EQ(Quoted("\u00a0\u0085\u200b\u2028\ufeff\u3000"), R"("\u00a0\u0085\u200b\u2028\ufeff\u3000")");
  EXPECT_EQ(Quoted("\U000e0001\ufffe"), R"("\U000e0001\ufffe")");
  EXPECT_EQ(Quoted("\U00040000\U000dfffd\U000e0100"), "\"\\U00040000\\U000dfffd\U000e0100\"");
}

TEST(Quoted, EscapesBytesThatAreNotText) {
  EXPECT_EQ(Quoted("a\xff\xc3"), R"("a\xff\xc3")");
  EXPECT_EQ(Quoted("\xc0\x80\xed\xa0\x80\xf5"), R"("\xc0\x80\xed\xa0\x80\xf5")");
  EXPECT_EQ(Quoted("\xef\xbf\xbd"), "\"\xef\xbf\xbd\"");
}

}  // namespace
}  // namespace pintle::gotext
