// SPDX-License-Identifier: Apache-2.0
#include "controller/pause_watch.h"

#include <gtest/gtest.h>

#include "support/configs.h"
#include "support/world.h"

namespace pintle::controller {
namespace {

constexpr const char* kWaitingFile = "/etc/chrony.conf";

// A paused pool with one node, for which a file waits.
class PauseWatchTest : public testing::Test {
 protected:
  PauseWatchTest() {
    world_.AddPool("worker", "new").spec.paused = true;
    world_.AddNode("a", "worker", "old");
    for (const char* name : {"old", "between", "new"}) {
      plan::TestConfig& config = made_[name].WithFile(kWaitingFile, std::string("data:,") + name);
      config.metadata().name = name;
      configs_.emplace(name, config);
    }
  }

  const PauseReport& Look() {
    View view = world_.Look();
    view.machine_configuration = &configuration_;
    watch_.Look(
        view, MakePoolMembers(view), configs_, [](const std::string&) { return true; },
        WallTime(std::chrono::hours(1)));
    return *watch_.ReportOf("worker");
  }

  World world_;
  std::map<std::string, plan::TestConfig> made_;
  WholeConfigs configs_;
  api::MachineConfiguration configuration_;
  PauseWatch watch_;
};

TEST_F(PauseWatchTest, NoticesThatABusyNodeHasFailed) {
  world_.Annotate("a", api::kDesiredConfigAnnotation, "between");
  world_.Annotate("a", api::kStateAnnotation, std::string(api::kStateWorking));
  EXPECT_EQ(Look().busy_nodes, 1U);
  world_.Annotate("a", api::kStateAnnotation, std::string(api::kStateDegraded));
  EXPECT_EQ(Look().busy_nodes, 0U);
}

TEST_F(PauseWatchTest, NoticesThatAMissingConfigExistsAgain) {
  const auto target = configs_.extract("new");
  EXPECT_TRUE(Look().files.empty());
  configs_.emplace("new", made_["new"]);
  EXPECT_FALSE(Look().files.empty());
}

TEST_F(PauseWatchTest, NoticesThatAnImageWaits) {
  configuration_.spec.node_disruption_policy.files.push_back(
      {.path = kWaitingFile, .actions = {{.type = "None", .reload = {}, .restart = {}}}});
  EXPECT_FALSE(Look().reboots);
  world_.Annotate("a", api::kDesiredImageAnnotation, "registry.example/worker@sha256:1");
  EXPECT_TRUE(Look().reboots);
}

TEST_F(PauseWatchTest, UsesThePolicyThatTheOperatorCompleted) {
  EXPECT_TRUE(Look().reboots);
  auto& completed = configuration_.status.node_disruption_policy_status.cluster_policies.emplace();
  completed.files.push_back({.path = kWaitingFile, .actions = {{.type = "None", .reload = {}, .restart = {}}}});
  configuration_.metadata.resource_version = "2";
  EXPECT_FALSE(Look().reboots);
  configuration_.metadata.generation = 1;
  configuration_.metadata.resource_version = "3";
  EXPECT_TRUE(Look().reboots);
}

}  // namespace
}  // namespace pintle::controller
