// SPDX-License-Identifier: Apache-2.0
#include "controller/metric_values.h"

#include "clusterops/pool_labels.h"
#include "support/expect.h"

namespace pintle::controller {
namespace {

TEST(MetricValuesOf, HasThePoolsThatAnUpgradeWaitsFor) {
  api::MachineConfigPool master;
  master.metadata.name = "master";
  master.metadata.labels = clusterops::BuiltInLabels("master");
  api::MachineConfigPool worker;
  worker.metadata.name = "worker";
  View view;
  view.pools = {&master, &worker};
  const auto values = MetricValuesOf(view, {}, {{"worker", true}}, [](const std::string&) { return nullptr; });
  ASSERT_EQ(values.size(), 2U);
  EXPECT_TRUE(values[0].is_required);
  EXPECT_FALSE(values[1].is_required);
  EXPECT_FALSE(values[0].overrides_os_image);
  EXPECT_TRUE(values[1].overrides_os_image);
  EXPECT_FALSE(values[0].pause);
}

TEST(MetricValuesOf, HasThePauseOfAPoolThatIsPausedOnly) {
  api::MachineConfigPool worker;
  worker.metadata.name = "worker";
  View view;
  view.pools = {&worker};
  PauseReport report;
  const auto is_paused = [&] {
    const auto values = MetricValuesOf(view, {}, {}, [&](const std::string&) { return &report; });
    return values.at(0).pause.has_value();
  };
  EXPECT_FALSE(is_paused());
  report.is_paused = true;
  EXPECT_TRUE(is_paused());
}

TEST(MastersInCustomPools, AreMastersThatACustomPoolSelectsToo) {
  PoolMembers members;
  members.nodes["master"] = {};
  members.masters_wanted_elsewhere = {"master-0"};
  EXPECT_EQ(MastersInCustomPools(members), (std::map<std::string, bool>{{"master-0", true}}));
}

TEST(OperatorTasksOf, HasEachTaskAndWhetherItFails) {
  const std::map<std::string, bool> tasks = OperatorTasksOf({"RenderConfig"});
  EXPECT_EQ(tasks, (std::map<std::string, bool>{{"MachineConfigController", false},
                                                {"MachineConfigNode", false},
                                                {"MachineConfigPools", false},
                                                {"MachineConfigServer", false},
                                                {"MachineConfiguration", false},
                                                {"RenderConfig", true},
                                                {"RequiredPools", false}}));
}

TEST(AllowsOldBootImages, IsTrueIfTheAdministratorAllowsThem) {
  api::ControllerConfig config;
  api::MachineConfiguration configuration;
  View view;
  EXPECT_FALSE(AllowsOldBootImages(view));
  view.controller_config = &config;
  EXPECT_FALSE(AllowsOldBootImages(view));
  view.machine_configuration = &configuration;
  EXPECT_FALSE(AllowsOldBootImages(view));
  configuration.status.boot_image_skew_enforcement.mode = "None";
  EXPECT_TRUE(AllowsOldBootImages(view));
  configuration.status.boot_image_skew_enforcement.mode = "Manual";
  EXPECT_FALSE(AllowsOldBootImages(view));
}

TEST(AllowsOldBootImages, IsFalseIfMachinesNeedNoBootImages) {
  api::ControllerConfig config;
  api::MachineConfiguration configuration;
  configuration.status.boot_image_skew_enforcement.mode = "None";
  View view;
  view.controller_config = &config;
  view.machine_configuration = &configuration;
  config.spec.infra.status.control_plane_topology = "SingleReplica";
  EXPECT_FALSE(AllowsOldBootImages(view));
  config.spec.infra.status.control_plane_topology = "HighlyAvailable";
  EXPECT_TRUE(AllowsOldBootImages(view));
  config.spec.infra.status.platform_status.type = "BareMetal";
  EXPECT_FALSE(AllowsOldBootImages(view));
}

}  // namespace
}  // namespace pintle::controller
