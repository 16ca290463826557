// SPDX-License-Identifier: Apache-2.0
#include "change/text_diff.h"

#include "support/expect.h"

namespace pintle::change {
namespace {

TEST(UnifiedDiff, IsEmptyForEqualTexts) { EXPECT_EQ(UnifiedDiff("a\nb\n", "a\nb\n"), ""); }

TEST(UnifiedDiff, PrintsThreeLinesAroundAChange) {
  EXPECT_EQ(UnifiedDiff("1\n2\n3\n4\n5\n6\n7\n8\n9\n", "1\n2\n3\n4\nX\n6\n7\n8\n9\n"),
            "@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-5\n+X\n 6\n 7\n 8\n");
}

TEST(UnifiedDiff, KeepsDistantChangesApart) {
  EXPECT_EQ(UnifiedDiff("a\n1\n2\n3\n4\n5\n6\n7\nb\n", "A\n1\n2\n3\n4\n5\n6\n7\nB\n"),
            "@@ -1,4 +1,4 @@\n-a\n+A\n 1\n 2\n 3\n@@ -6,4 +6,4 @@\n 5\n 6\n 7\n-b\n+B\n");
}

TEST(UnifiedDiff, PrintsAdditionsToAnEmptyText) {
  EXPECT_EQ(UnifiedDiff("", "a\nb\n"), "@@ -0,0 +1,2 @@\n+a\n+b\n");
  EXPECT_EQ(UnifiedDiff("a\n", ""), "@@ -1 +0,0 @@\n-a\n");
}

TEST(UnifiedDiff, ReportsThatASecretChangesButNotItsValue) {
  EXPECT_EQ(UnifiedDiff("password = one\nx\n", "password = two\nx\n"),
            "@@ -1,2 +1,2 @@\n-password = <masked>\n+password = <masked>\n x\n");
}

TEST(UnifiedDiff, EscapesControlCharacters) { EXPECT_EQ(UnifiedDiff("", "\x1b[2J\n"), "@@ -0,0 +1 @@\n+\\x1B[2J\n"); }

TEST(UnifiedDiff, ReplacesAllLinesOfTextsThatHaveLittleInCommon) {
  std::string from;
  std::string to;
  for (int i = 0; i < 5000; ++i) {
    from += "old " + std::to_string(i) + "\n";
    to += "new " + std::to_string(i) + "\n";
  }
  EXPECT_THAT(UnifiedDiff(from, to), testing::StartsWith("@@ -1,5000 +1,5000 @@\n-old 0\n-old 1\n"));
}

}  // namespace
}  // namespace pintle::change
