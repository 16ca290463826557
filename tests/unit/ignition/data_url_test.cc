// SPDX-License-Identifier: Apache-2.0
#include "ignition/data_url.h"

#include <array>
#include <string>

#include "base/base64.h"
#include "support/expect.h"

namespace pintle::ignition {
namespace {

TEST(DataUrl, IsDecodedFromPercentAndFromBase64) {
  EXPECT_EQ(ValueOf(DecodeDataUrl("data:,hello%20world%0a")), "hello world\n");
  EXPECT_EQ(ValueOf(DecodeDataUrl("data:text/plain;charset=utf-8;base64,aGkK")), "hi\n");
  EXPECT_EQ(ValueOf(DecodeDataUrl("data:;base64,")), "");
  EXPECT_EQ(ValueOf(DecodeDataUrl("data:,")), "");
}

// Long contents come in several pieces, whose ends must not split an escape sequence or a group of base64.
TEST(DataUrl, ComesInPiecesThatMakeUpTheWhole) {
  for (std::size_t shift = 0; shift < 4; ++shift) {
    std::string bytes(shift, 'a');
    for (int i = 0; i < 200'000; ++i) bytes += static_cast<char>(i % 251);
    for (const std::string& url : {EncodeDataUrl(bytes), "data:;base64," + EncodeBase64(bytes)}) {
      std::string walked;
      std::size_t pieces = 0;
      EXPECT_TRUE(Succeeded(WalkDataUrl(url, [&](std::string_view piece) {
        walked += piece;
        ++pieces;
        return true;
      })));
      EXPECT_TRUE(walked == bytes);
      EXPECT_GT(pieces, 1U);
    }
  }
}

TEST(DataUrl, KeepsAPlus) { EXPECT_EQ(ValueOf(DecodeDataUrl("data:,a+b")), "a+b"); }

TEST(DataUrl, ReportsErrorsInIgnitionsWords) {
  EXPECT_EQ(DataUrlProblem("data:,a b"), "invalid data character");
  EXPECT_EQ(DataUrlProblem("DATA:,a"), "missing data prefix");
  EXPECT_EQ(DataUrlProblem("data:"), "missing comma before data");
  EXPECT_EQ(DataUrlProblem("data:text/plain"), "incomplete media type");
  EXPECT_EQ(DataUrlProblem("data:foo/plain,"), "invalid media type");
  EXPECT_EQ(DataUrlProblem("data:;,"), "unterminated parameter sequence");
  EXPECT_EQ(DataUrlProblem("data:;base32,"), "expected base64, got another encoding");
  EXPECT_EQ(DataUrlProblem("data:;a=\"b,"), "unclosed quoted string");
  EXPECT_EQ(DataUrlProblem("data:,%zz"), "rfc2396: invalid char 0x25 in unescape sequence");
  EXPECT_EQ(DataUrlProblem("data:,%2"), "rfc2396: unexpected end of unescape sequence");
  EXPECT_EQ(DataUrlProblem("data:;base64,YQ="), "illegal base64 data at input byte 3");
  EXPECT_EQ(DataUrlProblem("data:;base64,YQ==YQ=="), "illegal base64 data at input byte 4");
}

TEST(DataUrl, AcceptsQuotedParameters) { EXPECT_EQ(DataUrlProblem("data:text/plain;a=\"b;c\";base64,YQ=="), ""); }

TEST(DataUrl, WrittenAndReadAgainIsTheSame) {
  std::string bytes;
  for (int c = 0; c < 256; ++c) bytes += static_cast<char>(c);

  const std::string url = EncodeDataUrl(bytes);

  EXPECT_EQ(DataUrlProblem(url), "");
  EXPECT_EQ(ValueOf(DecodeDataUrl(url)), bytes);
}

TEST(DataUrl, IsWrittenAsTheMachineConfigServerWritesIt) {
  EXPECT_EQ(EncodeDataUrl("Hello, world!"), "data:,Hello%2C%20world!");
  EXPECT_EQ(EncodeDataUrl("This is a test"), "data:,This%20is%20a%20test");
}

TEST(Base64, WrittenAndReadAgainIsTheSameForEveryLength) {
  for (const std::string bytes : {"", "a", "ab", "abc", "abcd", "\xff\xfe\xfd"}) {
    EXPECT_EQ(DecodeBase64(EncodeBase64(bytes)), bytes);
  }
}

TEST(Base64, MayBeBrokenIntoLines) { EXPECT_EQ(DecodeBase64("YW\nJj\r\nZA==\n"), "abcd"); }

}  // namespace
}  // namespace pintle::ignition
