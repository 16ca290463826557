// SPDX-License-Identifier: Apache-2.0
#include "ignition/octal_mode.h"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

namespace pintle::ignition {
namespace {

TEST(MeantInOctal, RecognisesDigitsThatAreAModeInOctalOnly) {
  const std::vector<std::pair<int, int>> modes = {{644, 0644}, {600, 0600}, {755, 0755}, {400, 0400},
                                                  {440, 0440}, {444, 0444}, {500, 0500}, {555, 0555},
                                                  {664, 0664}, {711, 0711}, {777, 0777}};
  for (const auto& [mode, meant] : modes) EXPECT_EQ(MeantInOctal(mode), meant) << mode;
}

TEST(MeantInOctal, LeavesModesInDecimalAlone) {
  for (const int mode : {0644, 0600, 0755, 0400, 0440, 0444, 0500, 0550, 0555, 0640,  0660,
                         0664, 0666, 0700, 0711, 0750, 0755, 0770, 0775, 0777, 04755, 01777}) {
    EXPECT_FALSE(MeantInOctal(mode)) << mode;
  }
}

TEST(MeantInOctal, SuggestsNothingForOtherNumbers) {
  for (const int mode : {-644, 0, 7, 44, 64, 844, 680, 648, 1644, 100644}) EXPECT_FALSE(MeantInOctal(mode)) << mode;
}

}  // namespace
}  // namespace pintle::ignition
