// SPDX-License-Identifier: Apache-2.0
#include "base/first_characters.h"

#include <gtest/gtest.h>

namespace pintle {
namespace {

TEST(FirstCharacters, CountsCharactersAndNotBytes) {
  EXPECT_EQ(FirstCharacters("für alle", 3), "für");
  EXPECT_EQ(FirstCharacters("€€", 1), "€");
  EXPECT_EQ(FirstCharacters("short", 200), "short");
  EXPECT_EQ(FirstCharacters("", 3), "");
  EXPECT_EQ(FirstCharacters("none", 0), "");
}

TEST(FirstCharacters, ReplacesInvalidUtf8) {
  EXPECT_EQ(FirstCharacters("a\xff\xe2\x82z", 10), "a\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbdz");
}

}  // namespace
}  // namespace pintle
