// SPDX-License-Identifier: Apache-2.0
#include "base/utf8.h"

#include <string_view>

#include "unit/expect.h"

namespace pintle {
namespace {

TEST(Utf8, IsTextInAnyScript) {
  for (const std::string_view text : {"", "plain", "\x7F", "grüße", "€", "\xED\x9F\xBF", "😀", "\xF4\x8F\xBF\xBF"}) {
    EXPECT_TRUE(IsUtf8(text)) << text;
  }
}

TEST(Utf8, HasNoOtherBytes) {
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

}  // namespace
}  // namespace pintle
