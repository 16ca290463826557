// SPDX-License-Identifier: Apache-2.0
#include "controller/takeover_overrides.h"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "controller/takeover_steps.h"
#include "unit/controller/simulated_takeover.h"

namespace pintle::controller {
namespace {

TEST(TakeoverOverride, WithoutARecordIsReported) {
  SimulatedTakeover cluster;
  EXPECT_EQ(NoticeOfOverride(cluster.State(), cluster.settings_), "");
  EXPECT_FALSE(cluster.Run(StepsToTakeOver, 2));
  EXPECT_EQ(NoticeOfOverride(cluster.State(), cluster.settings_), "");
  cluster.objects_.erase(SimulatedTakeover::kRecord);
  EXPECT_TRUE(cluster.Run(StepsToUndo));
  EXPECT_THAT(NoticeOfOverride(cluster.State(), cluster.settings_),
              testing::HasSubstr("remove the override from spec.overrides"));
}

TEST(TakeoverOverride, IsRemovedAndThoseOfOthersStay) {
  SimulatedTakeover cluster;
  ASSERT_TRUE(cluster.Run(StepsToTakeOver));
  cluster.objects_["ClusterVersion/version"]["spec"]["overrides"].push_back({{"kind", "Deployment"}, {"name", "b"}});
  ASSERT_TRUE(cluster.Run(StepsToUndo));
  EXPECT_EQ(cluster.objects_["ClusterVersion/version"]["spec"]["overrides"],
            nlohmann::json::parse(R"([{"kind": "Deployment", "name": "b"}])"));
}

TEST(TakeoverOverride, ReplacesOneThatKeepsTheOperatorManagedUntilAnUndo) {
  SimulatedTakeover cluster;
  const auto override_with = [](const char* group, bool is_unmanaged) {
    return nlohmann::json{{"group", group},
                          {"kind", "Deployment"},
                          {"namespace", SimulatedTakeover::kNamespace},
                          {"name", "machine-config-operator"},
                          {"unmanaged", is_unmanaged}};
  };
  // The objects are replaced when they are patched.
  const auto overrides = [&]() -> nlohmann::json& {
    return cluster.objects_["ClusterVersion/version"]["spec"]["overrides"];
  };
  // The cluster's version operator compares the group, so the first and the last of these have no effect.
  for (const auto& entry : {override_with("", true), override_with("apps", false), override_with("extensions", true)}) {
    overrides().push_back(entry);
  }
  const nlohmann::json before = overrides();
  ASSERT_TRUE(cluster.Run(StepsToTakeOver));
  EXPECT_EQ(overrides().size(), 3U);
  EXPECT_EQ(overrides()[1], override_with("apps", true));
  ASSERT_TRUE(cluster.Run(StepsToUndo));
  EXPECT_EQ(overrides(), before);
}

}  // namespace
}  // namespace pintle::controller
