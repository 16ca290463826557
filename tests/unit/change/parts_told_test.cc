// SPDX-License-Identifier: Apache-2.0
#include "change/parts_told.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "support/two_deployments.h"

namespace pintle::change {
namespace {

using host::ActivityProgress;
using testing::ElementsAre;

TEST(PartsTold, BelongToTheCurrentActivity) {
  TwoDeployments deployments("/nowhere");
  std::vector<ActivityProgress> told;
  {
    const PartsTold parts(
        deployments, [&](const ActivityProgress& how_far) { told.push_back(how_far); }, "fetching x");
    deployments.tell({"", "downloading", 43});
    deployments.tell({"", "downloading", 43});
    deployments.tell({"", "unpacking"});
  }
  EXPECT_FALSE(deployments.tell) << "progress of later activities is still reported";
  EXPECT_THAT(told, ElementsAre(ActivityProgress{"fetching x"}, ActivityProgress{"fetching x", "downloading", 43},
                                ActivityProgress{"fetching x", "unpacking"}));
}

TEST(PartsTold, AreRequestedOnlyWithAListener) {
  TwoDeployments deployments("/nowhere");
  const PartsTold parts(deployments, {}, "fetching x");
  EXPECT_FALSE(deployments.tell);
}

}  // namespace
}  // namespace pintle::change
