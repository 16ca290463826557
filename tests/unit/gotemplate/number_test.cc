// SPDX-License-Identifier: Apache-2.0
#include "gotemplate/number.h"

#include <gtest/gtest.h>

namespace pintle::gotemplate {
namespace {

TEST(ReadNumber, TakesAllFormsOfWholeNumbers) {
  EXPECT_EQ(ReadNumber("0x1F")->integer, 31);
  EXPECT_EQ(ReadNumber("0b101")->integer, 5);
  EXPECT_EQ(ReadNumber("0o17")->integer, 15);
  EXPECT_EQ(ReadNumber("017")->integer, 15);
  EXPECT_EQ(ReadNumber("-1_000")->integer, -1000);
  EXPECT_EQ(ReadNumber("-9223372036854775808")->integer, INT64_MIN);
  EXPECT_EQ(ReadNumber("9223372036854775808")->integer, std::nullopt);
  EXPECT_EQ(ReadNumber("9223372036854775808")->unsigned_integer, std::uint64_t{1} << 63);
}

TEST(ReadNumber, AcceptsAFloatWithAWholeValueAsAnInteger) {
  const auto number = ReadNumber("1e3");
  ASSERT_TRUE(number);
  EXPECT_EQ(number->integer, 1000);
  EXPECT_EQ(number->real, 1000.0);
  EXPECT_EQ(ReadNumber("2.5")->integer, std::nullopt);
  EXPECT_EQ(ReadNumber("0x1p4")->integer, 16);
  EXPECT_EQ(ReadNumber("1e-400")->real, 0.0);
}

TEST(ReadNumber, RefusesNumbersThatGoRefuses) {
  EXPECT_EQ(ReadNumber("08").error().message(), "integer overflow: \"08\"");
  EXPECT_EQ(ReadNumber("99999999999999999999").error().message(), "integer overflow: \"99999999999999999999\"");
  for (const char* text : {"1__0", "_1", "1_", "0x", "-", ".", "1e", "0x1.8", "1e999"}) {
    EXPECT_FALSE(ReadNumber(text)) << text;
  }
}

TEST(ReadComplex, AlsoSetsTheOtherTypesIfTheImaginaryPartIsZero) {
  EXPECT_EQ(ReadComplex("1+2i")->complex, std::complex<double>(1, 2));
  EXPECT_EQ(ReadComplex("1+0i")->integer, 1);
  EXPECT_EQ(ReadNumber("1i")->complex, std::complex<double>(0, 1));
  EXPECT_FALSE(ReadComplex("1i+2i"));
}

TEST(ReadCharacter, TakesEscapes) {
  EXPECT_EQ(ReadCharacter("'a'")->integer, 'a');
  EXPECT_EQ(ReadCharacter("'\\n'")->integer, '\n');
  EXPECT_EQ(ReadCharacter("'\\u00e9'")->integer, 0xe9);
  EXPECT_EQ(ReadCharacter("'\\''")->integer, '\'');
  EXPECT_EQ(ReadCharacter("'ab'").error().message(), "malformed character constant: 'ab'");
  EXPECT_EQ(ReadCharacter("''").error().message(), "invalid syntax");
}

}  // namespace
}  // namespace pintle::gotemplate
