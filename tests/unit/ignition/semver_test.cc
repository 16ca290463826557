// SPDX-License-Identifier: Apache-2.0
#include "ignition/semver.h"

#include <gtest/gtest.h>

namespace pintle::ignition {
namespace {

TEST(Semver, HasThreeNumbersAndIsAReleaseUnlessMoreFollows) {
  const auto version = ParseSemver("3.04.10");
  ASSERT_TRUE(version);
  EXPECT_EQ(version->major, 3);
  EXPECT_EQ(version->minor, 4);
  EXPECT_EQ(version->patch, 10);
  EXPECT_TRUE(version->is_release);
  for (const char* text : {"3.4.0-a", "3.4.0+a", "3.4.0-a+b", "3.4.0--"}) {
    const auto other = ParseSemver(text);
    ASSERT_TRUE(other) << text;
    EXPECT_FALSE(other->is_release) << text;
  }
}

TEST(Semver, IsNoOtherText) {
  for (const char* text : {"", "3", "3.4", "3.4.0.0", "-3.4.0", "3.-4.0", "3..0", "v3.4.0", "3.4.0+a+b", "3.4.0 ",
                           "3.4.99999999999999999999"}) {
    EXPECT_FALSE(ParseSemver(text)) << text;
  }
}

}  // namespace
}  // namespace pintle::ignition
