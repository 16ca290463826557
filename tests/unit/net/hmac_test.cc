// SPDX-License-Identifier: Apache-2.0
#include "net/hmac.h"

#include <gtest/gtest.h>

#include "base/digest.h"

namespace pintle::net {
namespace {

TEST(HmacSha256, MatchesRfc4231) {
  // These are the test cases 2 and 6 of RFC 4231.
  EXPECT_EQ(ToHex(HmacSha256("Jefe", "what do ya want for nothing?")),
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
  EXPECT_EQ(ToHex(HmacSha256(std::string(131, '\xaa'), "Test Using Larger Than Block-Size Key - Hash Key First")),
            "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54");
}

TEST(SameSecret, ComparesTheWholeText) {
  EXPECT_TRUE(SameSecret("abc", "abc"));
  EXPECT_FALSE(SameSecret("abc", "abd"));
  EXPECT_FALSE(SameSecret("abc", "abcd"));
  EXPECT_TRUE(SameSecret("", ""));
}

}  // namespace
}  // namespace pintle::net
