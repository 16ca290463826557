// SPDX-License-Identifier: Apache-2.0
#include "api/go_quote.h"

#include <gtest/gtest.h>

namespace pintle::api {
namespace {

TEST(GoQuoted, EscapesTheSameCharactersAsGo) {
  EXPECT_EQ(GoQuoted(""), R"("")");
  EXPECT_EQ(GoQuoted("say \"hi\" \\ 'x'"), R"("say \"hi\" \\ 'x'")");
  EXPECT_EQ(GoQuoted("\a\b\f\n\r\t\v"), R"("\a\b\f\n\r\t\v")");
  EXPECT_EQ(GoQuoted(std::string_view("\0\x1f\x7f", 3)), R"("\x00\x1f\x7f")");
}

TEST(GoQuoted, KeepsLettersOfAnyLanguage) { EXPECT_EQ(GoQuoted("Prüfung 検査 🙂"), "\"Prüfung 検査 🙂\""); }

TEST(GoQuoted, EscapesInvisibleCharacters) {
  EXPECT_EQ(GoQuoted("\u00a0\u0085\u200b\u2028\ufeff\u3000"), R"("\u00a0\u0085\u200b\u2028\ufeff\u3000")");
  EXPECT_EQ(GoQuoted("\U000e0001\ufffe"), R"("\U000e0001\ufffe")");
  EXPECT_EQ(GoQuoted("\U00040000\U000dfffd\U000e0100"), "\"\\U00040000\\U000dfffd\U000e0100\"");
}

TEST(GoQuoted, ShowsBytesThatAreNotUtf8) {
  EXPECT_EQ(GoQuoted("a\xff\xc3"), R"("a\xff\xc3")");
  EXPECT_EQ(GoQuoted("\xc0\x80\xed\xa0\x80\xf5"), R"("\xc0\x80\xed\xa0\x80\xf5")");
  EXPECT_EQ(GoQuoted("\xef\xbf\xbd"), "\"\xef\xbf\xbd\"");
}

}  // namespace
}  // namespace pintle::api
