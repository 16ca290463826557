// SPDX-License-Identifier: Apache-2.0
#include "kube/resource_version.h"

#include <gtest/gtest.h>

namespace pintle::kube {
namespace {

TEST(ResourceVersion, IsComparedAsANumber) {
  EXPECT_TRUE(IsLater("10", "9"));
  EXPECT_FALSE(IsLater("9", "10"));
  EXPECT_FALSE(IsLater("10", "10"));
  EXPECT_TRUE(IsLater("18446744073709551615", "18446744073709551614"));
}

TEST(ResourceVersion, HasNoOrderIfItIsNoNumber) {
  EXPECT_FALSE(IsLater("", ""));
  EXPECT_FALSE(IsLater("new", "1"));
  EXPECT_TRUE(IsLater("1", "new"));
}

}  // namespace
}  // namespace pintle::kube
