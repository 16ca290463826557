// SPDX-License-Identifier: Apache-2.0
#include "ctl/progress_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace pintle::ctl {
namespace {

using host::ActivityProgress;
using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::ElementsAre;

constexpr MonotonicTime kBegan(seconds(100));
const ActivityProgress kDownloading = {"fetching quay.io/os@sha256:4f0a", "downloading", 43};

TEST(FittingLine, IsTheWholeTextIfThatFits) {
  const std::string whole = "fetching quay.io/os@sha256:4f0a: downloading, 43 %";
  EXPECT_EQ(FittingLine(kDownloading, 80), whole);
  EXPECT_EQ(FittingLine(kDownloading, whole.size()), whole);
}

TEST(FittingLine, CutsTheActivityBeforeThePercentage) {
  EXPECT_EQ(FittingLine(kDownloading, 49), "fetching quay.io/os@sha256:...: downloading, 43 %");
  EXPECT_EQ(FittingLine(kDownloading, 30), "fetching...: downloading, 43 %");
  EXPECT_EQ(FittingLine(kDownloading, 29), "downloading, 43 %");
  EXPECT_EQ(FittingLine(kDownloading, 5), "downl");
  EXPECT_EQ(FittingLine({kDownloading.doing}, 8), "fetching");
}

TEST(FittingLine, CountsTerminalColumnsAndNotBytes) {
  EXPECT_EQ(FittingLine({"f\x1b", "öööö"}, 11), "f\\x1B: öööö");
  EXPECT_EQ(ColumnsOf("f\\x1B: öööö"), 11U);
}

TEST(LineForEachTenth, MakesALineForEachTenthAfterTheFirstSecond) {
  LineForEachTenth lines;
  std::vector<std::string> printed;
  for (unsigned percent = 0; percent <= 100; ++percent) {
    if (auto line = lines.LineOf({"fetching", "", percent}, kBegan + percent * milliseconds(150)))
      printed.push_back(*line);
  }
  EXPECT_THAT(printed,
              ElementsAre("fetching: 10 %", "fetching: 20 %", "fetching: 30 %", "fetching: 40 %", "fetching: 50 %",
                          "fetching: 60 %", "fetching: 70 %", "fetching: 80 %", "fetching: 90 %", "fetching: 100 %"));
}

TEST(LineForEachTenth, MakesNoLineForAShortActivity) {
  LineForEachTenth lines;
  for (const char* doing : {"fetching", "staging"}) {
    for (unsigned percent = 0; percent <= 100; ++percent) {
      EXPECT_EQ(lines.LineOf({doing, "", percent}, kBegan + percent * milliseconds(9)), std::nullopt);
    }
  }
}

TEST(LineForEachTenth, MakesAtMostOneLineASecond) {
  LineForEachTenth lines;
  int count = 0;
  for (unsigned i = 0; i < 10000; ++i) {
    const std::string part(1, static_cast<char>('a' + i % 26));
    if (lines.LineOf({"fetching", part, i * 37 % 101}, kBegan + i * milliseconds(1))) ++count;
  }
  EXPECT_LE(count, 9);
  EXPECT_GE(count, 8);
}

TEST(LineForEachTenth, NeedsAPercentage) {
  LineForEachTenth lines;
  EXPECT_EQ(lines.LineOf({"fetching"}, kBegan), std::nullopt);
  EXPECT_EQ(lines.LineOf({"fetching", "looking around"}, kBegan + seconds(9)), std::nullopt);
  EXPECT_EQ(lines.LineOf({"fetching", "downloading", 50}, kBegan + seconds(9)), "fetching: downloading, 50 %");
}

}  // namespace
}  // namespace pintle::ctl
