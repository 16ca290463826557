// SPDX-License-Identifier: Apache-2.0
#include "gotext/float_text.h"

#include <gtest/gtest.h>

namespace pintle::gotext {
namespace {

TEST(FloatText, IsTheShortestTextThatIsReadAsTheSameNumber) {
  EXPECT_EQ(FloatText(0, 'g', kShortest, 64), "0");
  EXPECT_EQ(FloatText(-0.0, 'f', kShortest, 64), "-0");
  EXPECT_EQ(FloatText(0.1, 'f', kShortest, 64), "0.1");
  EXPECT_EQ(FloatText(100000, 'g', kShortest, 64), "100000");
  EXPECT_EQ(FloatText(1e6, 'g', kShortest, 64), "1e+06");
  EXPECT_EQ(FloatText(0.0001, 'g', kShortest, 64), "0.0001");
  EXPECT_EQ(FloatText(0.00001, 'g', kShortest, 64), "1e-05");
  EXPECT_EQ(FloatText(-1234.5, 'f', kShortest, 64), "-1234.5");
  EXPECT_EQ(FloatText(0.1F, 'g', kShortest, 32), "0.1");
}

TEST(FloatText, HasZerosAfterTheSignificantDigits) {
  EXPECT_EQ(FloatText(1e23, 'f', kShortest, 64), "100000000000000000000000");
  EXPECT_EQ(FloatText(123456789012345680000.0, 'f', kShortest, 64), "123456789012345680000");
  EXPECT_EQ(FloatText(1e23, 'f', 0, 64), "99999999999999991611392");
}

}  // namespace
}  // namespace pintle::gotext
