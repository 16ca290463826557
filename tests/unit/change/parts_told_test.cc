// SPDX-License-Identifier: Apache-2.0
#include "change/parts_told.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "support/two_deployments.h"

namespace pintle::change {
namespace {

using host::HowFar;
using testing::ElementsAre;

TEST(PartsTold, BelongToTheCurrentActivity) {
  TwoDeployments deployments("/nowhere");
  std::vector<HowFar> told;
  {
    const PartsTold parts(
        deployments, [&](const HowFar& how_far) { told.push_back(how_far); }, "fetching x");
    deployments.tell({"", "downloading", 43});
    deployments.tell({"", "downloading", 43});
    deployments.tell({"", "unpacking"});
  }
  EXPECT_FALSE(deployments.tell) << "progress of later activities is still reported";
  EXPECT_THAT(told, ElementsAre(HowFar{"fetching x"}, HowFar{"fetching x", "downloading", 43},
                                HowFar{"fetching x", "unpacking"}));
}

TEST(PartsTold, AreRequestedOnlyWithAListener) {
  TwoDeployments deployments("/nowhere");
  const PartsTold parts(deployments, {}, "fetching x");
  EXPECT_FALSE(deployments.tell);
}

}  // namespace
}  // namespace pintle::change
