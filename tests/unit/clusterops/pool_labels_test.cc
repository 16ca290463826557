// SPDX-License-Identifier: Apache-2.0
#include "clusterops/pool_labels.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace pintle::clusterops {
namespace {

constexpr const char* kBuiltIn = "machineconfiguration.openshift.io/mco-built-in";
constexpr const char* kRequired = "operator.machineconfiguration.openshift.io/required-for-upgrade";

TEST(BuiltInLabels, NameThePoolAndMarkTheControlPlaneAsRequired) {
  const std::string prefix = "pools.operator.machineconfiguration.openshift.io/";
  EXPECT_EQ(BuiltInLabels("master"), (api::Labels{{kBuiltIn, ""}, {kRequired, ""}, {prefix + "master", ""}}));
  EXPECT_EQ(BuiltInLabels("arbiter"), (api::Labels{{kBuiltIn, ""}, {kRequired, ""}, {prefix + "arbiter", ""}}));
  EXPECT_EQ(BuiltInLabels("worker"), (api::Labels{{kBuiltIn, ""}, {prefix + "worker", ""}}));
  EXPECT_EQ(BuiltInLabels("infra"), api::Labels());
}

TEST(MissingLabels, AreThoseThatSomebodyHasRemovedOrChanged) {
  api::MachineConfigPool pool;
  pool.metadata.name = "master";
  pool.metadata.labels = BuiltInLabels("master");
  pool.metadata.labels.emplace("mine", "stays");
  EXPECT_EQ(MissingLabels(pool), api::Labels());
  pool.metadata.labels.erase(kRequired);
  pool.metadata.labels[kBuiltIn] = "no";
  EXPECT_EQ(MissingLabels(pool), (api::Labels{{kBuiltIn, ""}, {kRequired, ""}}));
  pool.metadata.name = "infra";
  EXPECT_EQ(MissingLabels(pool), api::Labels());
}

TEST(IsRequiredForUpgrade, IsDecidedByTheLabelAlone) {
  api::MachineConfigPool pool;
  pool.metadata.name = "infra";
  EXPECT_FALSE(IsRequiredForUpgrade(pool));
  pool.metadata.labels.emplace(kRequired, "");
  EXPECT_TRUE(IsRequiredForUpgrade(pool));
}

}  // namespace
}  // namespace pintle::clusterops
