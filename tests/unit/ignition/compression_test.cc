// SPDX-License-Identifier: Apache-2.0
#include "ignition/compression.h"

#include <string>

#include "base/base64.h"
#include "unit/expect.h"

namespace pintle::ignition {
namespace {

// "hello\n"
const std::string kHello = *DecodeBase64("H4sIAAAAAAACA8tIzcnJ5wIAIDA6NgYAAAA=");

TEST(Gunzip, Unpacks) { EXPECT_EQ(ValueOf(Gunzip(kHello)), "hello\n"); }

TEST(Gunzip, UnpacksMembersOneBehindTheOther) { EXPECT_EQ(ValueOf(Gunzip(kHello + kHello)), "hello\nhello\n"); }

TEST(Gunzip, RefusesWhatIsCutShort) {
  EXPECT_EQ(MessageOf(Gunzip(kHello.substr(0, kHello.size() - 5))), "unexpected EOF");
  EXPECT_EQ(MessageOf(Gunzip("")), "unexpected EOF");
}

TEST(Gunzip, RefusesWhatIsBroken) {
  std::string broken = kHello;
  broken[14] ^= 1;
  EXPECT_FALSE(Gunzip(broken));
  EXPECT_FALSE(Gunzip(kHello + "garbage"));
  EXPECT_FALSE(Gunzip("not gzip at all"));
}

TEST(Gunzip, StopsAtTheLimit) {
  EXPECT_EQ(MessageOf(Gunzip(kHello, 5)), "unpacks to more than 5 bytes");
  EXPECT_EQ(ValueOf(Gunzip(kHello, 6)), "hello\n");
}

}  // namespace
}  // namespace pintle::ignition
