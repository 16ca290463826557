// SPDX-License-Identifier: Apache-2.0
#include "ctl/pools_status.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace pintle::ctl {
namespace {

api::Condition TrueCondition(std::string type, std::string message = "") {
  api::Condition condition;
  condition.type = std::move(type);
  condition.status = "True";
  condition.message = std::move(message);
  return condition;
}

api::MachineConfigPool Pool(std::vector<api::Condition> conditions) {
  api::MachineConfigPool pool;
  pool.metadata.name = "worker";
  pool.spec.configuration.name = "rendered-worker-1";
  pool.status.machine_count = 2;
  pool.status.updated_machine_count = 2;
  pool.status.conditions = std::move(conditions);
  return pool;
}

std::string TextOf(const api::MachineConfigPool& pool) { return PoolsText(std::vector{&pool}); }
ExitStatus ExitOf(const api::MachineConfigPool& pool) { return PoolsExitStatus(std::vector{&pool}); }

TEST(PoolsStatus, AnUpdatedPoolIsFine) {
  api::Condition past = TrueCondition("Misconfigured", "no more");
  past.status = "False";
  const auto pool =
      Pool({TrueCondition("Updated", "All nodes are updated"), TrueCondition("BuildSuccess", "built"), past});
  EXPECT_EQ(TextOf(pool), "worker: updated, 2 of 2 nodes have rendered-worker-1\n");
  EXPECT_EQ(ExitOf(pool), ExitStatus::kSuccess);
}

TEST(PoolsStatus, AnUpdatedPoolWithAProblemHasALineAboutItAndTheExitStatusDiffers) {
  for (const char* type : {"Misconfigured", "PausedPending", "RenderDegraded", "PinnedImageSetsDegraded",
                           "PoolSynchronizerDegraded", "BuildFailed", "BuildInterrupted", "SomethingNew"}) {
    const auto pool = Pool({TrueCondition("Updated"), TrueCondition(type, "why\x1b[2J it is so")});
    EXPECT_EQ(TextOf(pool), "worker: updated, 2 of 2 nodes have rendered-worker-1\n  " + std::string(type) +
                                ": why\\x1B[2J it is so\n");
    EXPECT_EQ(ExitOf(pool), ExitStatus::kDiffers) << type;
  }
}

TEST(PoolsStatus, TheExitStatusDiffersIfThePoolIsNotUpdated) {
  EXPECT_EQ(ExitOf(Pool({TrueCondition("Updating")})), ExitStatus::kDiffers);
  EXPECT_EQ(ExitOf(Pool({})), ExitStatus::kDiffers);
  const auto degraded = Pool({TrueCondition("Degraded"), TrueCondition("NodeDegraded", "Node w is reporting: \"x\"")});
  EXPECT_EQ(TextOf(degraded),
            "worker: degraded, 2 of 2 nodes have rendered-worker-1\n  NodeDegraded: Node w is reporting: "
            "\"x\"\n");
  EXPECT_EQ(ExitOf(degraded), ExitStatus::kDiffers);
}

}  // namespace
}  // namespace pintle::ctl
