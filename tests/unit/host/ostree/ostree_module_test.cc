// SPDX-License-Identifier: Apache-2.0
#include "host/ostree/ostree_module.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace pintle::host {
namespace {

using testing::AllOf;
using testing::HasSubstr;

// This program has no run path that leads to the module.
TEST(OstreeModuleTest, AMissingModuleIsAnErrorThatNamesItsPackage) {
  const auto disk = OpenRunningDisk();
  ASSERT_FALSE(disk);
  EXPECT_THAT(disk.error().message(),
              AllOf(HasSubstr("pintle-ostree-"), HasSubstr("install the package pintle-image")));
}

}  // namespace
}  // namespace pintle::host
