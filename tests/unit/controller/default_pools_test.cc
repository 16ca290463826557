// SPDX-License-Identifier: Apache-2.0
#include "controller/default_pools.h"

#include "support/expect.h"
#include "support/world.h"

namespace pintle::controller {
namespace {

std::vector<std::string> Names(const std::vector<api::MachineConfigPool>& pools) {
  std::vector<std::string> names;
  for (const auto& pool : pools) names.push_back(pool.metadata.name);
  return names;
}

TEST(MissingPools, AreMasterAndWorkerAndArbiterIfTheClusterHasArbiters) {
  World world;
  EXPECT_EQ(Names(MissingPools(world.Look())), (std::vector<std::string>{"master", "worker"}));
  world.AddPool("worker", "");
  EXPECT_EQ(Names(MissingPools(world.Look())), (std::vector<std::string>{"master"}));
  world.controller_config.spec.infra.status.control_plane_topology = "HighlyAvailableArbiter";
  EXPECT_EQ(Names(MissingPools(world.Look())), (std::vector<std::string>{"master", "arbiter"}));
}

TEST(MissingPools, SelectTheConfigsAndNodesOfTheirRole) {
  const auto pools = MissingPools(World().Look());
  const api::MachineConfigPool& master = pools[0];
  EXPECT_EQ(master.spec.node_selector->match_labels, (api::Labels{{"node-role.kubernetes.io/master", ""}}));
  EXPECT_EQ(master.spec.machine_config_selector->match_labels,
            (api::Labels{{"machineconfiguration.openshift.io/role", "master"}}));
  const std::string required = "operator.machineconfiguration.openshift.io/required-for-upgrade";
  EXPECT_TRUE(master.metadata.labels.contains(required));
  EXPECT_FALSE(pools[1].metadata.labels.contains(required));
}

// k3s and RKE2 label their servers with the value "true".
TEST(MissingPools, SelectTheLabelWithAnyValueInAClusterThatIsNotOpenShift) {
  World world;
  View view = world.Look();
  EXPECT_TRUE(view.is_openshift);
  view.is_openshift = false;
  const api::MachineConfigPool master = MissingPools(view)[0];
  const api::Selector selector = ValueOf(api::Selector::Compile(master.spec.node_selector));
  for (const char* value : {"", "true"}) {
    EXPECT_TRUE(selector.Matches({{"node-role.kubernetes.io/master", value}})) << value;
  }
  EXPECT_FALSE(selector.Matches({{"node-role.kubernetes.io/worker", ""}}));
}

}  // namespace
}  // namespace pintle::controller
