// SPDX-License-Identifier: Apache-2.0
#include "host/ostree/activity_progress.h"

#include <gtest/gtest.h>

#include <limits>

namespace pintle::host {
namespace {

TEST(ActivityProgress, IsWrittenOnOneLine) {
  EXPECT_EQ(InWords({"fetching x", "downloading", 43}), "fetching x: downloading, 43 %");
  EXPECT_EQ(InWords({"fetching x", "downloading"}), "fetching x: downloading");
  EXPECT_EQ(InWords({"fetching x", "", 0}), "fetching x: 0 %");
  EXPECT_EQ(InWords({"fetching x"}), "fetching x");
  EXPECT_EQ(InWords({"", "downloading", 100}), "downloading, 100 %");
  EXPECT_EQ(PartInWords({"fetching x"}), "");
}

TEST(ActivityProgress, Is100OnlyWhenAllIsDone) {
  EXPECT_EQ(PercentOf(0, 3), 0U);
  EXPECT_EQ(PercentOf(2, 3), 66U);
  EXPECT_EQ(PercentOf(999, 1000), 99U);
  EXPECT_EQ(PercentOf(1000, 1000), 100U);
  EXPECT_EQ(PercentOf(1001, 1000), 100U);
  EXPECT_EQ(PercentOf(0, 0), std::nullopt);
}

TEST(ActivityProgress, HandlesTheGreatestSizes) {
  constexpr auto kMost = std::numeric_limits<std::uint64_t>::max();
  EXPECT_EQ(PercentOf(kMost / 2, kMost), 50U);
  EXPECT_EQ(PercentOf(kMost - 1, kMost), 99U);
  EXPECT_EQ(PercentOf(kMost, kMost), 100U);
}

}  // namespace
}  // namespace pintle::host
