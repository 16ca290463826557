// SPDX-License-Identifier: Apache-2.0
#include "change/task_progress.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "support/two_deployments.h"

namespace pintle::change {
namespace {

using host::ActivityProgress;
using testing::ElementsAre;

TEST(TaskProgress, BelongsToTheCurrentActivity) {
  TwoDeployments deployments("/nowhere");
  std::vector<ActivityProgress> reported;
  {
    const TaskProgress task(
        deployments, [&](const ActivityProgress& progress) { reported.push_back(progress); }, "fetching x");
    deployments.progress_callback({"", "downloading", 43});
    deployments.progress_callback({"", "downloading", 43});
    deployments.progress_callback({"", "unpacking"});
  }
  EXPECT_FALSE(deployments.progress_callback) << "progress of later activities is still reported";
  EXPECT_THAT(reported, ElementsAre(ActivityProgress{"fetching x"}, ActivityProgress{"fetching x", "downloading", 43},
                                    ActivityProgress{"fetching x", "unpacking"}));
}

TEST(TaskProgress, IsRequestedOnlyWithAListener) {
  TwoDeployments deployments("/nowhere");
  const TaskProgress task(deployments, {}, "fetching x");
  EXPECT_FALSE(deployments.progress_callback);
}

}  // namespace
}  // namespace pintle::change
