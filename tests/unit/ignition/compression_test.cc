// SPDX-License-Identifier: Apache-2.0
#include "ignition/compression.h"

#include <string>

#include "base/base64.h"
#include "support/expect.h"

namespace pintle::ignition {
namespace {

// The gzipped text "hello\n".
const std::string kHello = *DecodeBase64("H4sIAAAAAAACA8tIzcnJ5wIAIDA6NgYAAAA=");

TEST(Gunzip, Unpacks) { EXPECT_EQ(ValueOf(Gunzip(kHello)), "hello\n"); }

TEST(Gunzip, UnpacksSeveralMembersInARow) { EXPECT_EQ(ValueOf(Gunzip(kHello + kHello)), "hello\nhello\n"); }

TEST(Gunzip, RefusesATruncatedText) {
  EXPECT_EQ(MessageOf(Gunzip(kHello.substr(0, kHello.size() - 5))), "unexpected EOF");
  EXPECT_EQ(MessageOf(Gunzip("")), "unexpected EOF");
}

TEST(Gunzip, RefusesABrokenText) {
  std::string broken = kHello;
  broken[14] ^= 1;
  EXPECT_FALSE(Gunzip(broken));
  EXPECT_FALSE(Gunzip(kHello + "garbage"));
  EXPECT_FALSE(Gunzip("not gzip at all"));
}

TEST(Gunzipper, AcceptsAnyPieces) {
  std::string unpacked;
  Gunzipper gunzipper([&](std::string_view piece) {
    unpacked += piece;
    return true;
  });
  for (const char byte : kHello + kHello) EXPECT_TRUE(ValueOf(gunzipper.Take({&byte, 1})));
  EXPECT_TRUE(Succeeded(gunzipper.End()));
  EXPECT_EQ(unpacked, "hello\nhello\n");
}

TEST(Gunzipper, StopsWhenNoMoreIsWanted) {
  int calls = 0;
  Gunzipper gunzipper([&](std::string_view) {
    ++calls;
    return false;
  });
  EXPECT_FALSE(ValueOf(gunzipper.Take(kHello + kHello)));
  EXPECT_EQ(calls, 1);
}

TEST(Gunzip, StopsAtTheLimit) {
  EXPECT_EQ(MessageOf(Gunzip(kHello, 5)), "unpacks to more than 5 bytes");
  EXPECT_EQ(ValueOf(Gunzip(kHello, 6)), "hello\n");
}

}  // namespace
}  // namespace pintle::ignition
