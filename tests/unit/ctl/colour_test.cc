// SPDX-License-Identifier: Apache-2.0
#include "ctl/colour.h"

#include <gtest/gtest.h>

namespace pintle::ctl {
namespace {

TEST(Coloured, ColoursEachLineAndChangesNoText) {
  EXPECT_EQ(Coloured("a\n-b\n+c\n\n@@ 1 @@\n d\n", ColourOfDiff),
            "a\n\x1b[31m-b\x1b[0m\n\x1b[32m+c\x1b[0m\n\n\x1b[36m@@ 1 @@\x1b[0m\n d\n");
  EXPECT_EQ(Coloured("+no line break", ColourOfDiff), "\x1b[32m+no line break\x1b[0m");
  EXPECT_EQ(Coloured("", ColourOfDiff), "");
  EXPECT_EQ(Coloured("\n\n", ColourOfDiff), "\n\n");
}

}  // namespace
}  // namespace pintle::ctl
