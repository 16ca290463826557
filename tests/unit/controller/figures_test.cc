// SPDX-License-Identifier: Apache-2.0
#include "controller/figures.h"

#include "support/expect.h"

namespace pintle::controller {
namespace {

TEST(AllowsOldBootImages, IsTrueIfTheAdministratorAllowsThem) {
  api::ControllerConfig config;
  api::MachineConfiguration said;
  View view;
  EXPECT_FALSE(AllowsOldBootImages(view));
  view.controller_config = &config;
  EXPECT_FALSE(AllowsOldBootImages(view));
  view.machine_configuration = &said;
  EXPECT_FALSE(AllowsOldBootImages(view));
  said.status.boot_image_skew_enforcement.mode = "None";
  EXPECT_TRUE(AllowsOldBootImages(view));
  said.status.boot_image_skew_enforcement.mode = "Manual";
  EXPECT_FALSE(AllowsOldBootImages(view));
}

TEST(AllowsOldBootImages, IsFalseIfMachinesNeedNoBootImages) {
  api::ControllerConfig config;
  api::MachineConfiguration said;
  said.status.boot_image_skew_enforcement.mode = "None";
  View view;
  view.controller_config = &config;
  view.machine_configuration = &said;
  config.spec.infra.status.control_plane_topology = "SingleReplica";
  EXPECT_FALSE(AllowsOldBootImages(view));
  config.spec.infra.status.control_plane_topology = "HighlyAvailable";
  EXPECT_TRUE(AllowsOldBootImages(view));
  config.spec.infra.status.platform_status.type = "BareMetal";
  EXPECT_FALSE(AllowsOldBootImages(view));
}

}  // namespace
}  // namespace pintle::controller
