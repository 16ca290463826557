// SPDX-License-Identifier: Apache-2.0
#include "clusterops/machine_configuration_status.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "plan/disruption_policy.h"

namespace pintle::clusterops {
namespace {

TEST(NextStatus, HasTheDefaultsWhereTheAdministratorHasSetNothing) {
  api::MachineConfiguration configuration;
  configuration.metadata.generation = 3;
  const auto next = NextStatus(configuration);
  ASSERT_TRUE(next);
  EXPECT_EQ(next->observed_generation, 3);
  const auto& policies = next->node_disruption_policy_status.cluster_policies;
  ASSERT_TRUE(policies);
  EXPECT_EQ(policies->files.front().path, "/var/lib/kubelet/config.json");
  EXPECT_EQ(policies->units.front().name, "iri-registry.service");
  EXPECT_EQ(policies->sshkey.actions.front().type, "None");
}

TEST(NextStatus, HasTheAdministratorsPolicyInThePlaceOfADefault) {
  api::MachineConfiguration configuration;
  configuration.spec.node_disruption_policy.files = {{"/var/lib/kubelet/config.json", {{"Reboot", {}, {}}}},
                                                     {"/etc/mine", {{"None", {}, {}}}}};
  const auto next = NextStatus(configuration);
  ASSERT_TRUE(next);
  const auto& files = next->node_disruption_policy_status.cluster_policies->files;
  EXPECT_EQ(files.front().actions.front().type, "Reboot");
  EXPECT_EQ(files.back().path, "/etc/mine");
  EXPECT_EQ(files.size(), plan::DefaultPolicy().files.size() + 1);
}

TEST(NextStatus, IsNulloptWithoutAChangeAndKeepsFieldsOfOthers) {
  api::MachineConfiguration configuration;
  configuration.status.boot_image_skew_enforcement.mode = "Manual";
  const auto next = NextStatus(configuration);
  ASSERT_TRUE(next);
  EXPECT_EQ(next->boot_image_skew_enforcement.mode, "Manual");
  configuration.status = *next;
  EXPECT_FALSE(NextStatus(configuration));
  configuration.metadata.generation = 9;
  EXPECT_TRUE(NextStatus(configuration));
}

}  // namespace
}  // namespace pintle::clusterops
