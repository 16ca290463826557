// SPDX-License-Identifier: Apache-2.0
#include "generated/kubelet_configs.h"

#include <gtest/gtest.h>

#include "generated/kubelet_bootstrap.h"
#include "unit/generated/kubelet_fixture.h"

namespace pintle::generated {
namespace {

using Arguments = std::vector<std::string>;

constexpr const char* kUnified = "systemd.unified_cgroup_hierarchy=1";
constexpr const char* kNoV1 = "cgroup_no_v1=\"all\"";

const KubeletSettings kSettings{
    .feature_gates = {{"A", true}},
    .worker_latency_profile = "MediumUpdateAverageReaction",
    .cgroup_mode = "",
    .controller_version = "HASH",
};

TEST(ControlGroupArguments, ReplaceArgumentsOfCgroupsV1AndKeepOtherArguments) {
  EXPECT_EQ(*ControlGroupArguments(""), (Arguments{kUnified, kNoV1}));
  EXPECT_EQ(*ControlGroupArguments("v2", {"systemd.unified_cgroup_hierarchy=0", "mine=1",
                                          "systemd.legacy_systemd_cgroup_controller=1", kUnified}),
            (Arguments{"mine=1", kUnified, kNoV1}));
  const auto old = ControlGroupArguments("v1");
  ASSERT_FALSE(old);
  EXPECT_EQ(old.error().message(), "unknown cgroup mode found v1, failed to update the machine config resource");
}

TEST(NodeConfig, HasKernelArgumentsForBuiltInPoolsOnly) {
  for (const char* pool : {"master", "worker", "arbiter"}) {
    EXPECT_EQ(NodeConfig(pool, Templates(""), kSettings)->kernel_arguments, (Arguments{kUnified, kNoV1})) << pool;
  }
  const auto infra = NodeConfig("infra", Templates(""), kSettings);
  EXPECT_EQ(infra->name, "97-infra-generated-kubelet");
  EXPECT_EQ(infra->role, "infra");
  EXPECT_EQ(infra->kernel_arguments, std::nullopt);
  EXPECT_EQ(infra->annotations, MadeBy("HASH"));
  EXPECT_TRUE(infra->owner_references.empty());
  EXPECT_EQ(*NodeConfig("worker", Templates(""), kSettings, {"mine"})->kernel_arguments,
            (Arguments{"mine", kUnified, kNoV1}));
}

TEST(NodeConfig, RefusesAnUnknownLatencyProfileForWorkersOnly) {
  KubeletSettings settings = kSettings;
  settings.worker_latency_profile = "Bogus";
  EXPECT_FALSE(NodeConfig("worker", Templates(""), settings));
  EXPECT_TRUE(NodeConfig("master", Templates(""), settings));
  const auto features = FeatureConfig("worker", Templates("nodeStatusUpdateFrequency: 7s\n"), settings);
  ASSERT_TRUE(features);
  EXPECT_NE(FileOf(*features, kKubeletConfPath).find("nodeStatusUpdateFrequency: 7s\n"), std::string::npos);
  EXPECT_TRUE(PoolKubeletBase("worker", Templates(""), settings));
}

TEST(FeatureConfig, HasTheBaseAndNoArguments) {
  const auto config = FeatureConfig("worker", Templates("maxPods: 5\n"), kSettings);
  ASSERT_TRUE(config);
  EXPECT_EQ(config->name, "98-worker-generated-kubelet");
  EXPECT_EQ(config->kernel_arguments, std::nullopt);
  const std::string text = FileOf(*config, kKubeletConfPath);
  EXPECT_NE(text.find("featureGates:\n  A: true\n"), std::string::npos) << text;
  EXPECT_NE(text.find("nodeStatusUpdateFrequency: 20s\n"), std::string::npos) << text;
}

TEST(UserKubeletConfig, BelongsToItsObject) {
  const auto config = UserKubeletConfig(Kubelet(R"({"kubeletConfig":{"maxPods":9}})"), Pool("infra"), "99-name",
                                        *PoolKubeletBase("infra", Templates("maxPods: 5\n"), kSettings), kSettings);
  ASSERT_TRUE(config);
  EXPECT_EQ(config->name, "99-name");
  EXPECT_EQ(config->role, "infra");
  EXPECT_EQ(config->annotations, MadeBy("HASH"));
  ASSERT_EQ(config->owner_references.size(), 1u);
  EXPECT_EQ(config->owner_references[0].uid, "kc-uid");
  EXPECT_NE(FileOf(*config, kKubeletConfPath).find("maxPods: 9\n"), std::string::npos);
}

const std::vector<api::MachineConfigPool> kPools = {Pool("master"), Pool("infra")};

Result<std::vector<MachineConfig>> TemplatesForAny(const std::string&) { return Templates("maxPods: 5\n"); }

std::string ConfigNames(const Result<std::vector<MachineConfig>>& configs) {
  if (!configs) return configs.error().message();
  std::string names;
  for (const MachineConfig& config : *configs) names += config.name + " ";
  return names;
}

TEST(Bootstrap, GivesEachPoolKernelArguments) {
  const auto configs = BootstrapNodeConfigs(kPools, TemplatesForAny, kSettings);
  EXPECT_EQ(ConfigNames(configs), "97-master-generated-kubelet 97-infra-generated-kubelet ");
  for (const MachineConfig& config : *configs) EXPECT_EQ(config.kernel_arguments, (Arguments{kUnified, kNoV1}));
  EXPECT_EQ(ConfigNames(BootstrapFeatureConfigs(kPools, TemplatesForAny, kSettings)),
            "98-master-generated-kubelet 98-infra-generated-kubelet ");
}

std::string ForPool(const char* pool, const char* other_fields = "") {
  return std::string(R"({"machineConfigPoolSelector":{"matchLabels":{"pool":")") + pool + "\"}}" + other_fields + "}";
}

TEST(Bootstrap, MakesConfigsWhoseOwnersHaveNoUid) {
  const std::vector objects = {Kubelet(ForPool("infra")), Kubelet(ForPool("master", R"(,"logLevel":3)"))};
  const auto configs = BootstrapKubeletConfigs(objects, kPools, TemplatesForAny, kSettings);
  EXPECT_EQ(ConfigNames(configs), "99-infra-generated-kubelet 99-master-generated-kubelet ");
  EXPECT_EQ((*configs)[0].owner_references[0].uid, "");
  EXPECT_TRUE((*configs)[0].config.starts_with(R"({"ignition":{"config":{"replace":{"verification":{}}},"proxy":{})"));
}

TEST(Bootstrap, EndsAtTheFirstError) {
  const auto run = [](const std::vector<api::KubeletConfig>& objects) {
    return ConfigNames(BootstrapKubeletConfigs(objects, kPools, TemplatesForAny, kSettings));
  };
  const api::KubeletConfig good = Kubelet(ForPool("infra"));
  const api::KubeletConfig static_pods = Kubelet(ForPool("infra", R"(,"kubeletConfig":{"staticPodPath":"/a"})"));
  const api::KubeletConfig wrong = Kubelet(ForPool("infra", R"(,"logLevel":11)"));
  EXPECT_EQ(
      run({good, good}),
      "error found multiple KubeletConfigs targeting MachineConfigPool infra. Please apply only one KubeletConfig "
      "manifest for each pool during installation");
  EXPECT_EQ(run({static_pods, wrong}), "KubeletConfig's LogLevel is not valid [0,10]: 11");
  EXPECT_EQ(run({static_pods}),
            "KubeletConfiguration: staticPodPath must be empty for pool \"infra\", but contains: /a");
  EXPECT_EQ(run({Kubelet(ForPool("nobody"))}), "");
}

}  // namespace
}  // namespace pintle::generated
