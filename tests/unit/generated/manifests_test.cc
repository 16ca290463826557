// SPDX-License-Identifier: Apache-2.0
#include "generated/manifests.h"

#include <filesystem>
#include <string>

#include "json/parse.h"
#include "support/expect.h"
#include "support/temporary_directory.h"

namespace pintle::generated {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr const char* kBuiltIn = R"(machineconfiguration.openshift.io/mco-built-in: "")";

std::string PoolText(const std::string& name, const std::string& label, const std::string& paused) {
  return "apiVersion: machineconfiguration.openshift.io/v1\nkind: MachineConfigPool\nmetadata: {name: " + name +
         ", labels: {" + label + "}}\nspec: {paused: " + paused + "}\n";
}

std::string ObjectText(const std::string& version, const std::string& kind, const std::string& name) {
  return "apiVersion: " + version + "\nkind: " + kind + "\nmetadata: {name: " + name + "}\n";
}

class ManifestsTest : public testing::Test {
 protected:
  Manifests Read() { return ValueOf(ReadManifests(folder_.path())); }
  std::string ErrorOfReading() { return MessageOf(ReadManifests(folder_.path())); }

  const TemporaryDirectory folder_;
};

TEST_F(ManifestsTest, AreReadFromAllFilesInTheOrderOfTheirNames) {
  folder_.Write("b.json", R"({"apiVersion": "machineconfiguration.openshift.io/v1", "kind": "KubeletConfig",
                              "metadata": {"name": "second"}, "spec": {}})");
  folder_.Write("a-without-an-ending", ObjectText("machineconfiguration.openshift.io/v1", "KubeletConfig", "first") +
                                           "---\n---\n" +
                                           ObjectText("config.openshift.io/v1", "FeatureGate", "cluster"));
  folder_.Write(".hidden", "no: {yaml");
  std::filesystem::create_directory(folder_ / "more");
  folder_.Write("more/c.yaml", "no: {yaml");
  const Manifests manifests = Read();
  ASSERT_EQ(manifests.kubelet_configs.size(), 2U);
  EXPECT_EQ(manifests.kubelet_configs[0].metadata.name, "first");
  EXPECT_EQ(manifests.kubelet_configs[1].metadata.name, "second");
  EXPECT_TRUE(manifests.feature_gate);
  EXPECT_EQ(manifests.PlaceOf("KubeletConfig", "first"), "\"" + (folder_ / "a-without-an-ending").string() + "\" [1]");
  EXPECT_EQ(manifests.PlaceOf("FeatureGate", "cluster"), "\"" + (folder_ / "a-without-an-ending").string() + "\" [2]");
  EXPECT_EQ(manifests.PlaceOf("KubeletConfig", "third"), "");
}

TEST_F(ManifestsTest, OfOtherKindsAndNamesAreLeftOut) {
  folder_.Write("a.yaml", ObjectText("v1", "Node", "cluster") + "---\n" +
                              ObjectText("config.openshift.io/v1", "Node", "other") + "---\n" +
                              ObjectText("image.openshift.io/v1", "Image", "cluster") + "---\n" +
                              ObjectText("v1", "Secret", "other"));
  const Manifests manifests = Read();
  EXPECT_FALSE(manifests.node_settings);
  EXPECT_FALSE(manifests.image);
  EXPECT_FALSE(manifests.release_registry);
  EXPECT_THAT(manifests.without_effect, IsEmpty());
}

TEST_F(ManifestsTest, HaveOnePoolOfEachNameAndPreferThatOfTheUser) {
  folder_.Write("a.yaml", PoolText("worker", "", "true"));
  folder_.Write("b.yaml", PoolText("worker", kBuiltIn, "false"));
  folder_.Write("c.yaml", PoolText("master", kBuiltIn, "false"));
  folder_.Write("d.yaml", PoolText("master", kBuiltIn, "true"));
  const Manifests manifests = Read();
  ASSERT_EQ(manifests.pools.size(), 2U);
  EXPECT_EQ(manifests.pools[0].pool.metadata.name, "worker");
  EXPECT_TRUE(manifests.pools[0].pool.spec.paused);
  EXPECT_EQ(manifests.pools[0].document["spec"]["paused"], true);
  EXPECT_TRUE(manifests.pools[1].pool.spec.paused);
}

TEST_F(ManifestsTest, ThatCannotBeReadAreNamed) {
  folder_.Write("a.yaml", ObjectText("v1", "ConfigMap", "x") + "---\nmetadata: {name: hunter2}\n");
  EXPECT_EQ(ErrorOfReading(),
            "error parsing \"" + (folder_ / "a.yaml").string() + "\" [2] manifest: Object 'Kind' is missing");
  folder_.Write("a.yaml", "a: {b");
  EXPECT_THAT(ErrorOfReading(), HasSubstr((folder_ / "a.yaml").string()));
  folder_.Write("a.yaml", PoolText("../x", "", "true"));
  EXPECT_THAT(ErrorOfReading(), HasSubstr("\"../x\" cannot be the name of a pool"));
  folder_.Write("a.yaml", PoolText("x", "", "often"));
  EXPECT_THAT(ErrorOfReading(), HasSubstr("[1] manifest: $.spec.paused: must be true or false"));
  EXPECT_THAT(MessageOf(ReadManifests("/no/such/folder")), HasSubstr("/no/such/folder"));
}

TEST_F(ManifestsTest, WithoutAnEffectAreReported) {
  const std::string group = "machineconfiguration.openshift.io/v1";
  folder_.Write("a.yaml", ObjectText(group, "InternalReleaseImage", "cluster") + "---\n" +
                              ObjectText(group, "MachineOSConfig", "plain") + "---\n" + "apiVersion: " + group +
                              "\nkind: MachineOSConfig\nmetadata:\n  name: built\n" +
                              "  annotations: {machineconfiguration.openshift.io/pre-built-image: r/os@sha256:1}\n");
  const Manifests manifests = Read();
  EXPECT_TRUE(manifests.has_release_image);
  EXPECT_THAT(manifests.without_effect,
              ElementsAre(HasSubstr("InternalReleaseImage cluster"), HasSubstr("MachineOSConfig built")));
}

TEST(CheckComplete, NamesTheMissingObjectAndTheFolder) {
  Manifests manifests;
  EXPECT_EQ(MessageOf(CheckComplete(manifests, "/m")),
            "error: no controllerconfig found in dir: \"/m\"; put the manifest of the ControllerConfig there");
  manifests.controller_config = json::Value::object();
  EXPECT_EQ(MessageOf(CheckComplete(manifests, "/m")),
            "error: no featuregate found in dir: \"/m\"; put the manifest of the FeatureGate \"cluster\" there");
  manifests.feature_gate.emplace();
  EXPECT_TRUE(Succeeded(CheckComplete(manifests, "/m")));
}

}  // namespace
}  // namespace pintle::generated
