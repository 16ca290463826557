// SPDX-License-Identifier: Apache-2.0
#include "clusterops/pool_summary.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace pintle::clusterops {
namespace {

api::MachineConfigPool PoolThatIs(std::vector<std::string> types) {
  api::MachineConfigPool pool;
  pool.metadata.name = "worker";
  pool.spec.configuration.name = "rendered-worker-2";
  pool.status.configuration.name = "rendered-worker-1";
  pool.status.machine_count = 3;
  pool.status.updated_machine_count = 2;
  pool.status.ready_machine_count = 1;
  for (std::string& type : types) {
    pool.status.conditions.push_back(
        {.type = std::move(type), .status = "True", .last_transition_time = {}, .reason = "why", .message = "a \"b\""});
  }
  return pool;
}

TEST(PoolSummary, IsAboutTheConditionThatMattersMost) {
  EXPECT_EQ(PoolSummary(PoolThatIs({})), "<unknown>");
  EXPECT_EQ(PoolSummary(PoolThatIs({"Updated"})), "all 3 nodes are at latest configuration rendered-worker-1");
  EXPECT_EQ(PoolSummary(PoolThatIs({"Updating"})),
            "2 (ready 1) out of 3 nodes are updating to latest configuration rendered-worker-2");
  EXPECT_EQ(PoolSummary(PoolThatIs({"Updating", "NodeDegraded"})),
            "pool is degraded because nodes fail with \"why\": \"a \\\"b\\\"\"");
  EXPECT_EQ(PoolSummary(PoolThatIs({"NodeDegraded", "RenderDegraded"})),
            "pool is degraded because rendering fails with \"why\": \"a \\\"b\\\"\"");
  EXPECT_EQ(PoolSummary(PoolThatIs({"PinnedImageSetsDegraded"})),
            "pool is degraded because pinned image sets failed with \"why\": \"a \\\"b\\\"\"");
}

TEST(PoolSummary, ReadsTheLastConditionOfAType) {
  api::MachineConfigPool pool = PoolThatIs({"Updated", "Updated"});
  pool.status.conditions.back().status = "False";
  EXPECT_EQ(PoolSummary(pool), "<unknown>");
}

}  // namespace
}  // namespace pintle::clusterops
