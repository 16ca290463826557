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

TEST(Gunzip, NamesAWrongChecksumAndAWrongHeaderAsGoDoes) {
  std::string wrong_checksum = kHello;
  wrong_checksum[18] ^= 1;
  std::string wrong_length = kHello;
  wrong_length[22] ^= 1;

  EXPECT_EQ(MessageOf(Gunzip(wrong_checksum)), "gzip: invalid checksum");
  EXPECT_EQ(MessageOf(Gunzip(wrong_length)), "gzip: invalid checksum");
  EXPECT_EQ(MessageOf(Gunzip(kHello + "not another member")), "gzip: invalid header");
}

TEST(CheckGzipHeader, AcceptsAHeaderWithOptionalFields) {
  std::string with_name = kHello.substr(0, 10);
  with_name[3] = 8;
  std::string with_extra = kHello.substr(0, 10);
  with_extra[3] = 4;

  EXPECT_TRUE(Succeeded(CheckGzipHeader(kHello)));
  EXPECT_TRUE(Succeeded(CheckGzipHeader(with_name + "name" + '\0')));
  EXPECT_TRUE(Succeeded(CheckGzipHeader(with_extra + std::string("\2\0ab", 4))));
}

TEST(CheckGzipHeader, RefusesAHeaderThatIsCutOffOrHasAnotherMethod) {
  std::string with_name = kHello.substr(0, 10);
  with_name[3] = 8;
  std::string with_extra = kHello.substr(0, 10);
  with_extra[3] = 4;
  std::string other_method = kHello;
  other_method[2] = 7;

  EXPECT_EQ(MessageOf(CheckGzipHeader(kHello.substr(0, 9))), "unexpected EOF");
  EXPECT_EQ(MessageOf(CheckGzipHeader(with_name + "name")), "unexpected EOF");
  EXPECT_EQ(MessageOf(CheckGzipHeader(with_extra + std::string("\2\0a", 3))), "unexpected EOF");
  EXPECT_EQ(MessageOf(CheckGzipHeader(other_method)), "gzip: invalid header");
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
