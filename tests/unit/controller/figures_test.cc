// SPDX-License-Identifier: Apache-2.0
#include "controller/figures.h"

#include "support/expect.h"

namespace pintle::controller {
namespace {

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
