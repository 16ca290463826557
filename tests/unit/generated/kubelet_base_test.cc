// SPDX-License-Identifier: Apache-2.0
#include "generated/kubelet_base.h"

#include <gtest/gtest.h>

#include "generated/read_back.h"
#include "unit/generated/kubelet_fixture.h"

namespace pintle::generated {
namespace {

TEST(FeatureGatesOf, AreThoseOfTheRelease) {
  const auto object = FromJson<api::FeatureGate>(R"({"metadata":{"name":"cluster"},"status":{"featureGates":[
      {"version":"1","enabled":[{"name":"Old"}]},
      {"version":"2","enabled":[{"name":"A"},{"name":"B"}],"disabled":[{"name":"B"},{"name":"C"}]}]}})");
  EXPECT_EQ(*FeatureGatesOf(object, "2"), (FeatureGates{{"A", true}, {"B", false}, {"C", false}}));
  const auto missing = FeatureGatesOf(object, "3");
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().message(),
            "unable to determine features: missing desired version \"3\" in featuregates.config.openshift.io/cluster");
}

TEST(ContentsOfFile, TakesTheFirstConfigByNameThatCanBeReadAndHasTheFile) {
  std::vector<MachineConfig> configs(3);
  configs[0].name = "02";
  configs[0].config = ConfigText(ConfigOf({{"/a", "of 02"}}));
  configs[1].name = "01";
  configs[1].config = ConfigText(ConfigOf({{"/a", "of 01"}}));
  configs[2].name = "00";
  configs[2].config = R"({"ignition":{"version":""},"storage":{"files":[{"path":"/a"}]}})";
  EXPECT_EQ(ContentsOfFile(configs, "/a"), "of 01");
  EXPECT_EQ(ContentsOfFile(configs, "/b"), std::nullopt);
}

TEST(KubeletBase, MergesTheFeaturesOfTheReleaseIntoThoseOfTheTemplates) {
  const auto base = KubeletBase(Templates("maxPods: 5\nfeatureGates:\n  A: true\n  B: true\nunknown: 1\n"),
                                {{"B", false}, {"C", true}});
  ASSERT_TRUE(base);
  EXPECT_EQ(base->max_pods, 5);
  EXPECT_EQ(base->feature_gates, (FeatureGates{{"A", true}, {"B", false}, {"C", true}}));
}

TEST(KubeletBase, NeedsAValidKubeletConf) {
  const auto missing = KubeletBase({}, {});
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().message(),
            "could not generate the original Kubelet config ignition: could not generate old kubelet config");
  EXPECT_FALSE(KubeletBase(Templates("maxPods: many\n"), {}));
}

}  // namespace
}  // namespace pintle::generated
