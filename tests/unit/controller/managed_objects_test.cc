// SPDX-License-Identifier: Apache-2.0
#include "controller/managed_objects.h"

#include <gmock/gmock.h>

#include <map>
#include <set>
#include <string>
#include <vector>

#include "json/parse.h"
#include "support/expect.h"

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
  SourcesView sources;

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
            .awaited_configs = created};
  }
};

std::vector<std::string> RemovedNames(const std::vector<ConfigRemoval>& removals) {
  std::vector<std::string> names;
  for (const ConfigRemoval& removal : removals) names.push_back(removal.name);
  return names;
}

TEST(PatchForConfigs, AddsTheNumberAndMissingFinalizersAndKeepsTheOthers) {
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

// The API server would refuse the whole patch.
TEST(PatchForConfigs, LeavesOutNamesThatCannotBeFinalizers) {
  api::ObjectMeta object;
  object.resource_version = "7";
  object.annotations = {{"machineconfiguration.openshift.io/mc-name-suffix", ""}};
  const std::string longest(63, 'a');
  const std::vector<std::string> configs = {longest + "a", longest, "99-a-generated-kubelet-../b", "-a"};
  const auto patch = PatchForConfigs(object, configs);
  ASSERT_TRUE(patch);
  EXPECT_EQ(json::ToText((*patch)["metadata"]["finalizers"]), "[\"" + longest + "\"]");
}

TEST(PatchForConfigs, IsNulloptIfNothingIsMissing) {
  api::ObjectMeta object;
  object.annotations = {{"machineconfiguration.openshift.io/mc-name-suffix", ""}};
  object.finalizers = {"99-a-generated-kubelet"};
  const std::vector<std::string> configs = {"99-a-generated-kubelet"};
  EXPECT_FALSE(PatchForConfigs(object, configs));
}

api::ObjectMeta ObjectNamed(const std::string& name) {
  api::ObjectMeta object;
  object.name = name;
  object.uid = "uid-of-" + name;
  return object;
}

api::LabelSelector SelectorOf(const std::string& label) {
  api::LabelSelector selector;
  selector.match_labels = {{label, ""}};
  return selector;
}

TEST(NamesOfConfigs, HaveANumberThatIsFreeInAllPoolsOfTheObject) {
  ManagedCluster cluster;
  for (const char* name : {"a", "b"}) {
    api::MachineConfigPool& pool = cluster.pools.emplace_back();
    pool.metadata.name = name;
    pool.metadata.labels = {{name, ""}, {"all", ""}};
  }
  const GenerateInputs inputs = cluster.Inputs();
  NamesOfConfigs names(inputs, ManagedKind::kKubelet);
  api::ObjectMeta of_b = ObjectNamed("of-b");
  of_b.annotations = {{std::string(generated::kNameSuffixAnnotation), ""}};
  names.Add(of_b, SelectorOf("b"));
  names.Add(ObjectNamed("of-all"), SelectorOf("all"));
  EXPECT_EQ(ValueOf(names.NameFor("of-all", cluster.pools[0])), "99-a-generated-kubelet-1");
  EXPECT_EQ(ValueOf(names.NameFor("of-all", cluster.pools[1])), "99-b-generated-kubelet-1");
  EXPECT_EQ(ValueOf(names.NameFor("of-b", cluster.pools[1])), "99-b-generated-kubelet");
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

// The pools with the longest names have configs whose names are too long for a finalizer.
TEST(CleanupOf, RemovesAConfigThatTheObjectOwnsAlsoWithoutAFinalizer) {
  ManagedCluster cluster;
  const std::string config = "99-" + std::string(45, 'p') + "-generated-kubelet";
  api::ObjectMeta object = ObjectNamed("object");
  cluster.AddConfig(config).metadata.owner_references = {generated::ControlledBy("KubeletConfig", object)};
  object.finalizers = {"99-b-generated-kubelet"};
  const ObjectCleanup cleanup = CleanupOf(object, ManagedKind::kKubelet, cluster.Inputs());
  EXPECT_THAT(RemovedNames(cleanup.removals), ElementsAre(config));
  EXPECT_FALSE(cleanup.patch);
}

// Without the finalizer, the config could arrive after its object is gone, and would be rendered.
TEST(CleanupOf, KeepsTheFinalizerOfAConfigThatTheMirrorDoesNotHaveYet) {
  ManagedCluster cluster;
  cluster.created = {"99-a-generated-kubelet"};
  api::ObjectMeta object = ObjectNamed("object");
  object.finalizers = {"99-a-generated-kubelet"};
  const ObjectCleanup early = CleanupOf(object, ManagedKind::kKubelet, cluster.Inputs());
  EXPECT_TRUE(early.removals.empty());
  EXPECT_FALSE(early.patch);
  cluster.created.clear();
  EXPECT_TRUE(CleanupOf(object, ManagedKind::kKubelet, cluster.Inputs()).patch);
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

// An object may be copied together with its finalizers.
TEST(CleanupOf, DoesNotRemoveAConfigThatAnotherObjectOwns) {
  api::KubeletConfig original;
  original.metadata = ObjectNamed("original");
  ManagedCluster cluster;
  cluster.AddConfig("99-a-generated-kubelet").metadata.owner_references = {
      generated::ControlledBy("KubeletConfig", original.metadata)};
  api::ObjectMeta copy = ObjectNamed("copy");
  copy.finalizers = {"99-a-generated-kubelet"};
  cluster.sources.kubelet_configs = {&original};
  const ObjectCleanup cleanup = CleanupOf(copy, ManagedKind::kKubelet, cluster.Inputs());
  EXPECT_TRUE(cleanup.removals.empty());
  ASSERT_TRUE(cleanup.patch);
  EXPECT_EQ(json::ToText((*cleanup.patch)["metadata"]["finalizers"]), "[]");
  // The original may be gone, and then the config has no other owner.
  cluster.sources.kubelet_configs.clear();
  EXPECT_THAT(RemovedNames(CleanupOf(copy, ManagedKind::kKubelet, cluster.Inputs()).removals),
              ElementsAre("99-a-generated-kubelet"));
}

TEST(CleanupOf, LeavesFinalizersThatOnlyResembleOurs) {
  ManagedCluster cluster;
  const std::string old_name = std::string("99-a-") + kUid + "-kubelet";
  api::ObjectMeta object;
  object.finalizers = {"kubelet-backup",
                       "99-a-generated-kubelet-x",
                       "99-a-generated-kubelet-",
                       "a-generated-kubelet",
                       "99-a-kubelet",
                       "99-a-generated-containerruntime",
                       "99-a-generated-kubelet",
                       old_name,
                       "99-a-generated-kubelet-12",
                       kUid};
  const ObjectCleanup cleanup = CleanupOf(object, ManagedKind::kKubelet, cluster.Inputs());
  ASSERT_TRUE(cleanup.patch);
  EXPECT_EQ(json::ToText((*cleanup.patch)["metadata"]["finalizers"]),
            R"(["kubelet-backup","99-a-generated-kubelet-x","99-a-generated-kubelet-","a-generated-kubelet",)"
            R"("99-a-kubelet","99-a-generated-containerruntime"])");
}

TEST(OutdatedConfigs, AreConfigsOfOtherBuildsThatBelongToNoUnsettledObject) {
  ManagedCluster cluster;
  const api::Annotations by_other_build = generated::MadeBy("OLD");
  cluster.AddConfig("50-user");
  cluster.AddConfig("99-a-generated-kubelet").metadata.annotations = by_other_build;
  cluster.AddConfig("99-b-generated-kubelet").metadata.annotations = by_other_build;
  const auto add_owned = [&](const std::string& name, const std::string& uid) {
    api::MachineConfig& owned = cluster.AddConfig(name);
    owned.metadata.annotations = by_other_build;
    api::ObjectMeta owner;
    owner.uid = uid;
    owned.metadata.owner_references = {generated::ControlledBy("KubeletConfig", owner)};
  };
  add_owned("99-c-generated-kubelet", "settled");
  add_owned("99-d-generated-kubelet", "unsettled");
  add_owned("99-e-generated-kubelet", "gone");
  const auto removed = [&](std::span<const api::ObjectMeta* const> unsettled) {
    return RemovedNames(
        OutdatedConfigs(cluster.Inputs(), ManagedKind::kKubelet, {"99-b-generated-kubelet"}, unsettled));
  };
  EXPECT_THAT(removed({}), ElementsAre("99-a-generated-kubelet", "99-c-generated-kubelet", "99-d-generated-kubelet",
                                       "99-e-generated-kubelet"));
  api::ObjectMeta object;
  object.uid = "unsettled";
  const api::ObjectMeta* const unsettled[] = {&object};
  EXPECT_THAT(removed(unsettled), ElementsAre("99-c-generated-kubelet", "99-e-generated-kubelet"));
  object.finalizers = {"99-e-generated-kubelet"};
  EXPECT_THAT(removed(unsettled), ElementsAre("99-c-generated-kubelet"));
}

TEST(OutdatedConfigs, AreConfigsOfOldNamesOnceThereIsASuccessor) {
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
