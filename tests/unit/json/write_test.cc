// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <random>
#include <string>

#include "json/parse.h"

namespace pintle::json {
namespace {

using Theirs = nlohmann::json;

constexpr int kTexts = 20'000;

// Other programs write JSON with nlohmann/json, and our text must be the same, byte for byte.
std::string TheirText(const std::string& text) {
  return Theirs(text).dump(-1, ' ', false, Theirs::error_handler_t::replace);
}

std::string RandomText(std::mt19937& random) {
  // Bytes near the borders of what UTF-8 allows are more likely to matter than others.
  static const std::string kBytes =
      "a\"\\\b\f\n\r\t\x01\x1f\x7f\x80\x8f\x90\x9f\xa0\xbf\xc0\xc1\xc2\xdf\xe0\xed\xef\xf0\xf4\xf5\xff";
  std::string text(random() % 9, ' ');
  for (char& c : text) c = random() % 4 == 0 ? static_cast<char>(random()) : kBytes[random() % kBytes.size()];
  return text;
}

TEST(Write, WritesTextsAsTheLibraryDoes) {
  std::mt19937 random(1);
  for (int i = 0; i < kTexts; ++i) {
    const std::string text = RandomText(random);
    ASSERT_EQ(ToText(Value(text)), TheirText(text));
  }
  EXPECT_EQ(ToText(Value("\xf0\x9f\x98\x80 \xe2\x82")), "\"\xf0\x9f\x98\x80 \xef\xbf\xbd\"");
}

TEST(Write, WritesNumbersAsTheLibraryDoes) {
  for (const double number : {0.0, -0.0, 1.0, 0.1, 1e20, 1e-7, 123456789.125, 5e-324, 1.7976931348623157e308}) {
    EXPECT_EQ(ToText(Value(number)), Theirs(number).dump());
  }
  EXPECT_EQ(ToText(Value(std::numeric_limits<std::int64_t>::min())), "-9223372036854775808");
  EXPECT_EQ(ToText(Value(std::numeric_limits<std::uint64_t>::max())), "18446744073709551615");
}

TEST(Write, PutsListsAndObjectsOnOneLineOrIndentsThem) {
  const std::string text = R"({"a":[],"b":{},"c":[1,[true,null]],"d":{"e":"f","g":{"h":-1.5}}})";
  const auto value = Parse(text);
  ASSERT_TRUE(value);
  EXPECT_EQ(ToText(*value), text);
  EXPECT_EQ(ToIndentedText(*value), Theirs::parse(text).dump(2));
}

}  // namespace
}  // namespace pintle::json
