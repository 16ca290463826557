// SPDX-License-Identifier: Apache-2.0
#include "controller/managed_objects.h"

#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "json/parse.h"

namespace pintle::controller {
namespace {

using generated::ManagedKind;
using testing::ElementsAre;

constexpr const char* kUid = "0b7ad00e-3ab7-4a1a-b4a3-2d1cf7c1f1ab";

// A cluster with some configs and pools.
struct ManagedCluster {
  std::vector<api::MachineConfig> configs;
  std::vector<api::MachineConfigPool> pools;
  std::map<std::string, std::string, std::less<>> refused;
  std::set<std::string, std::less<>> created;
  generated::TemplateFolder templates{"t"};
  View view;
  GeneratedView sources;

  api::MachineConfig& AddConfig(const std::string& name) {
    api::MachineConfig& config = configs.emplace_back();
    config.metadata.name = name;
    config.metadata.uid = "uid-of-" + name;
    return config;
  }
  GenerateInputs Inputs() {
    view.configs.clear();
    for (const api::MachineConfig& config : configs) view.configs.push_back(&config);
    view.pools.clear();
    for (const api::MachineConfigPool& pool : pools) view.pools.push_back(&pool);
    return {.view = view,
            .sources = sources,
            .templates = templates,
            .version = "HASH",
            .now = {},
            .refused = refused,
            .created = created};
  }
};

std::vector<std::string> RemovedNames(const std::vector<ConfigRemoval>& removals) {
  std::vector<std::string> names;
  for (const ConfigRemoval& removal : removals) names.push_back(removal.name);
  return names;
}

TEST(PatchForConfigs, AddsWhatIsMissingAndKeepsTheRest) {
  api::ObjectMeta object;
  object.resource_version = "7";
  object.annotations = {{"team", "a"}};
  object.finalizers = {"example.test/backup", "99-a-generated-kubelet-2"};
  const std::vector<std::string> configs = {"99-a-generated-kubelet-2", "99-b-generated-kubelet-2"};
  const auto patch = PatchForConfigs(object, configs);
  ASSERT_TRUE(patch);
  EXPECT_EQ(json::ToText(*patch),
            R"({"metadata":{"annotations":{"machineconfiguration.openshift.io/mc-name-suffix":"2"},)"
            R"("finalizers":["example.test/backup","99-a-generated-kubelet-2","99-b-generated-kubelet-2"],)"
            R"("resourceVersion":"7"}})");
}

TEST(PatchForConfigs, IsNulloptIfNothingIsMissing) {
  api::ObjectMeta object;
  object.annotations = {{"machineconfiguration.openshift.io/mc-name-suffix", ""}};
  object.finalizers = {"99-a-generated-kubelet"};
  const std::vector<std::string> configs = {"99-a-generated-kubelet"};
  EXPECT_FALSE(PatchForConfigs(object, configs));
}

TEST(CleanupOf, RemovesConfigsFirstAndFinalizersThen) {
  ManagedCluster cluster;
  cluster.AddConfig("99-a-generated-kubelet").metadata.uid = kUid;
  cluster.AddConfig("99-b-generated-kubelet");
  api::ObjectMeta object;
  object.finalizers = {"example.test/backup", kUid, "99-b-generated-kubelet", "99-c-generated-kubelet"};
  const ObjectCleanup first = CleanupOf(object, ManagedKind::kKubelet, cluster.Inputs());
  EXPECT_THAT(RemovedNames(first.removals), ElementsAre("99-a-generated-kubelet", "99-b-generated-kubelet"));
  EXPECT_FALSE(first.patch);
  cluster.configs.clear();
  const ObjectCleanup then = CleanupOf(object, ManagedKind::kKubelet, cluster.Inputs());
  EXPECT_TRUE(then.removals.empty());
  ASSERT_TRUE(then.patch);
  EXPECT_EQ(json::ToText((*then.patch)["metadata"]["finalizers"]), R"(["example.test/backup"])");
}

// The operator removes any config whose name is a finalizer.
TEST(CleanupOf, DoesNotRemoveAConfigOfSomebodyElse) {
  ManagedCluster cluster;
  cluster.AddConfig("50-user");
  api::ObjectMeta object;
  object.uid = "object";
  object.finalizers = {"50-user"};
  EXPECT_TRUE(CleanupOf(object, ManagedKind::kKubelet, cluster.Inputs()).removals.empty());
}

TEST(OutdatedConfigs, AreThoseOfOtherBuildsWithoutAnObject) {
  ManagedCluster cluster;
  const api::Annotations by_other_build = generated::MadeBy("OLD");
  cluster.AddConfig("50-user");
  cluster.AddConfig("99-a-generated-kubelet").metadata.annotations = by_other_build;
  cluster.AddConfig("99-b-generated-kubelet").metadata.annotations = by_other_build;
  api::MachineConfig& owned = cluster.AddConfig("99-c-generated-kubelet");
  owned.metadata.annotations = by_other_build;
  api::ObjectMeta owner;
  owner.uid = "live";
  owned.metadata.owner_references = {generated::ControlledBy("KubeletConfig", owner)};
  EXPECT_THAT(
      RemovedNames(OutdatedConfigs(cluster.Inputs(), ManagedKind::kKubelet, {"99-b-generated-kubelet"}, {"live"})),
      ElementsAre("99-a-generated-kubelet"));
}

TEST(OutdatedConfigs, AreThoseOfOldNamesOnceThereIsASuccessor) {
  ManagedCluster cluster;
  cluster.pools.emplace_back().metadata.name = "worker";
  cluster.pools.back().metadata.uid = "u";
  cluster.AddConfig("99-worker-u-kubelet");
  EXPECT_TRUE(OutdatedConfigs(cluster.Inputs(), ManagedKind::kKubelet, {}, {}).empty());
  cluster.configs.insert(cluster.configs.begin(), api::MachineConfig());
  cluster.configs.front().metadata.name = "99-worker-generated-kubelet";
  EXPECT_THAT(RemovedNames(OutdatedConfigs(cluster.Inputs(), ManagedKind::kKubelet, {}, {})),
              ElementsAre("99-worker-u-kubelet"));
}

}  // namespace
}  // namespace pintle::controller
