// SPDX-License-Identifier: Apache-2.0
#include "change/first_difference.h"

#include <filesystem>
#include <string>

#include "support/expect.h"
#include "support/temporary_directory.h"

namespace pintle::change {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

class FirstDifferenceTest : public testing::Test {
 protected:
  FirstDifferenceTest() : root_(ValueOf(Root::Open(directory_.path().string()))) {}

  // Returns the first difference between the expected contents and a file with the contents `actual`.  Also checks that
  // the result does not depend on the size of the pieces.
  std::string Between(std::string_view expected, const std::string& actual, const std::string& name = "file") {
    directory_.Write(name, actual);
    std::string in_one_piece = ValueOf(FirstDifference(root_, "/" + name, PiecesOf(expected, expected.size() + 1)));
    for (const std::size_t size : {1U, 2U, 3U, 1000U}) {
      if (size == 1 && expected.size() > 10'000) continue;
      EXPECT_EQ(ValueOf(FirstDifference(root_, "/" + name, PiecesOf(expected, size))), in_one_piece) << size;
    }
    return in_one_piece;
  }

  static WalkPieces PiecesOf(std::string_view text, std::size_t size) {
    return [=](const TakePiece& take) -> Result<> {
      for (std::size_t at = 0; at < text.size(); at += size) {
        if (!TRY(take(text.substr(at, size)))) break;
      }
      return {};
    };
  }

  TemporaryDirectory directory_;
  Root root_;
};

TEST_F(FirstDifferenceTest, NamesTheLineAndBothTexts) {
  EXPECT_EQ(Between("a\nb = 1\nc\n", "a\nb = 2\nc\n"), "line 2: expected \"b = 1\", found \"b = 2\"");
  EXPECT_EQ(Between("a", "b"), "line 1: expected \"a\", found \"b\"");
}

TEST_F(FirstDifferenceTest, NamesTheTextThatEndsFirst) {
  EXPECT_EQ(Between("a\nb\n", "a\n"), "line 2: expected \"b\", found the end");
  EXPECT_EQ(Between("a\n", "a\nb\n"), "line 2: expected the end, found \"b\"");
  EXPECT_EQ(Between("", "b"), "line 1: expected the end, found \"b\"");
  EXPECT_EQ(Between("a\n", ""), "line 1: expected \"a\", found the end");
  EXPECT_EQ(Between("a\nb\n", "a\nb"), "line 2: expected a newline at its end");
  EXPECT_EQ(Between("a\nb", "a\nb\n"), "line 2: expected no newline at its end");
}

TEST_F(FirstDifferenceTest, IsEmptyForEqualContents) {
  EXPECT_EQ(Between("", ""), "");
  EXPECT_EQ(Between("a\n", "a\n"), "");
}

TEST_F(FirstDifferenceTest, MasksSecrets) {
  EXPECT_EQ(Between("user = a\npassword = one\n", "user = b\npassword = one\n"),
            "line 1: expected \"user = a\", found \"user = b\"");
  EXPECT_EQ(Between("password = one\n", "password = two\n"), "line 1 differs in a part that is not shown");
  EXPECT_EQ(Between("hash $6$salt$one rounds\n", "hash $6$salt$two none\n"),
            "line 1: expected \"hash <masked> rounds\", found \"hash <masked> none\"");
}

// A line far above may decide whether a line is a secret.
TEST_F(FirstDifferenceTest, MasksLinesWithinAKeyOrABlock) {
  EXPECT_EQ(Between("-----BEGIN PRIVATE KEY-----\nAAAA\nBBBB\n-----END PRIVATE KEY-----\n",
                    "-----BEGIN PRIVATE KEY-----\nAAAA\nCCCC\n-----END PRIVATE KEY-----\n"),
            "line 3 differs in a part that is not shown");
  EXPECT_EQ(Between("token: |\n  one\n", "token: |\n  two\n"), "line 2 differs in a part that is not shown");
}

TEST_F(FirstDifferenceTest, PrintsNothingOfASecretFile) {
  EXPECT_EQ(Between("one", "other", "ipsec.secrets"), "secret contents differ: 3 bytes expected, 5 found");
}

TEST_F(FirstDifferenceTest, PrintsNoBinaryContentsAndEscapesControlCharacters) {
  EXPECT_EQ(Between(std::string_view("a\0b", 3), "ac"),
            "binary contents differ: 3 bytes expected, 2 found, equal up to byte 1");
  EXPECT_THAT(Between("a", "\xFF"), StartsWith("binary contents"));
  EXPECT_EQ(Between("a", "\x1B[1m"), "line 1: expected \"a\", found \"\\x1B[1m\"");
}

TEST_F(FirstDifferenceTest, PrintsTheBeginningOfALongLine) {
  const std::string text = Between("a", std::string(1 << 20, 'x'));
  EXPECT_THAT(text, AllOf(StartsWith("line 1: expected \"a\", found \"xxx"), testing::EndsWith("xxx...\"")));
  EXPECT_LT(text.size(), 200U);
  std::string umlauts;
  for (int i = 0; i < 100'000; ++i) umlauts += "ü";
  EXPECT_THAT(Between("a", "x" + umlauts), Not(HasSubstr("binary")));
  EXPECT_THAT(Between("a", umlauts), Not(HasSubstr("binary")));
}

TEST_F(FirstDifferenceTest, GoesThroughAHugeFileInPieces) {
  directory_.Write("file", "a\n");
  std::filesystem::resize_file(directory_ / "file", 100 << 20);
  EXPECT_THAT(ValueOf(FirstDifference(root_, "/file", PiecesOf("a\n", 1))),
              StartsWith("binary contents differ: 2 bytes expected"));
}

TEST_F(FirstDifferenceTest, IsAnErrorWithoutAFile) {
  EXPECT_THAT(MessageOf(FirstDifference(root_, "/none", PiecesOf("a", 1))), HasSubstr("comparing /none"));
  EXPECT_THAT(MessageOf(FirstDifference(root_, "/", PiecesOf("a", 1))), HasSubstr("not a regular file"));
}

}  // namespace
}  // namespace pintle::change
