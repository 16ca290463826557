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
  folder_.Write(".hidden", ObjectText("machineconfiguration.openshift.io/v1", "KubeletConfig", "zeroth"));
  std::filesystem::create_directory(folder_ / "more");
  folder_.Write("more/c.yaml", "no: {yaml");
  const Manifests manifests = Read();
  ASSERT_EQ(manifests.kubelet_configs.size(), 3U);
  EXPECT_EQ(manifests.kubelet_configs[0].metadata.name, "zeroth");
  EXPECT_EQ(manifests.kubelet_configs[1].metadata.name, "first");
  EXPECT_EQ(manifests.kubelet_configs[2].metadata.name, "second");
  EXPECT_TRUE(manifests.feature_gate);
  EXPECT_EQ(manifests.PlaceOf("KubeletConfig", "first"), "\"" + (folder_ / "a-without-an-ending").string() + "\" [1]");
  EXPECT_EQ(manifests.PlaceOf("FeatureGate", "cluster"), "\"" + (folder_ / "a-without-an-ending").string() + "\" [2]");
  EXPECT_EQ(manifests.PlaceOf("KubeletConfig", "third"), "");
}

TEST_F(ManifestsTest, LeaveOutOtherKindsAndNames) {
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

TEST_F(ManifestsTest, LeaveOutVersionsThatTheOperatorDoesNotRead) {
  folder_.Write("a.yaml", ObjectText("machineconfiguration.openshift.io/v1beta1", "KubeletConfig", "x") + "---\n" +
                              ObjectText("config.openshift.io/v1alpha1", "ClusterImagePolicy", "x") + "---\n" +
                              ObjectText("operator.openshift.io/v1", "ImageContentSourcePolicy", "first") + "---\n" +
                              ObjectText("operator.openshift.io/v1alpha1", "ImageContentSourcePolicy", "second"));
  const Manifests manifests = Read();
  EXPECT_THAT(manifests.kubelet_configs, IsEmpty());
  EXPECT_THAT(manifests.cluster_policies, IsEmpty());
  EXPECT_EQ(manifests.content_source_policies.size(), 1U);
}

TEST_F(ManifestsTest, LeaveOutAndReportLists) {
  const std::string item = R"({"apiVersion": "machineconfiguration.openshift.io/v1", "kind": "KubeletConfig",
                               "metadata": {"name": "x"}, "spec": {}})";
  folder_.Write("a.json", R"({"apiVersion": "v1", "kind": "List", "items": [)" + item + "]}");
  folder_.Write("b.json", R"({"apiVersion": "machineconfiguration.openshift.io/v1", "kind": "KubeletConfigList",
                              "items": [)" +
                              item + "]}");
  const Manifests manifests = Read();
  EXPECT_THAT(manifests.kubelet_configs, IsEmpty());
  EXPECT_THAT(manifests.without_effect,
              ElementsAre(HasSubstr("a.json\" [1]: a List has no effect"), HasSubstr("b.json")));
}

// Returns the manifest of a pool as the operator writes it, with `other_fields` in its spec.
std::string PoolOfOperator(const std::string& name, const std::string& other_fields = "") {
  const std::string required =
      name == "worker" ? "" : R"("operator.machineconfiguration.openshift.io/required-for-upgrade": "", )";
  return "apiVersion: machineconfiguration.openshift.io/v1\nkind: MachineConfigPool\nmetadata: {name: " + name +
         ", creationTimestamp: null, labels: {" + required +
         R"("machineconfiguration.openshift.io/mco-built-in": "",)" +
         R"("pools.operator.machineconfiguration.openshift.io/)" + name + "\": \"\"}}\nspec:\n" + other_fields +
         "  machineConfigSelector: {matchLabels: {machineconfiguration.openshift.io/role: " + name + "}}\n" +
         "  nodeSelector: {matchLabels: {node-role.kubernetes.io/" + name + ": \"\"}}\n";
}

TEST_F(ManifestsTest, HaveOnePoolOfEachNameAndPreferThatOfTheUser) {
  // The user's pool differs from that of the operator only in its maxUnavailable.
  folder_.Write("99_worker.yaml", PoolOfOperator("worker", "  maxUnavailable: 3\n"));
  folder_.Write("worker.machineconfigpool.yaml", PoolOfOperator("worker", "  paused: false\n"));
  folder_.Write("master.1.yaml", PoolOfOperator("master"));
  folder_.Write("master.2.yaml", PoolText("master", kBuiltIn, "true"));
  folder_.Write("master.3.yaml", PoolOfOperator("master"));
  folder_.Write("mine.1.yaml", PoolText("mine", "", "false"));
  folder_.Write("mine.2.yaml", PoolText("mine", kBuiltIn, "true"));
  const Manifests manifests = Read();
  ASSERT_EQ(manifests.pools.size(), 3U);
  EXPECT_EQ(manifests.pools[0].pool.metadata.name, "worker");
  EXPECT_EQ(manifests.pools[0].document["spec"]["maxUnavailable"], 3);
  EXPECT_EQ(manifests.pools[1].pool.metadata.name, "master");
  EXPECT_EQ(manifests.pools[1].document["spec"]["paused"], true);
  EXPECT_EQ(manifests.pools[2].pool.metadata.name, "mine");
  EXPECT_TRUE(manifests.pools[2].pool.spec.paused);
}

TEST_F(ManifestsTest, UseTheLastPoolOfTheUser) {
  folder_.Write("a.yaml", PoolText("worker", "", "true"));
  folder_.Write("b.yaml", PoolText("worker", kBuiltIn, "false"));
  const Manifests manifests = Read();
  ASSERT_EQ(manifests.pools.size(), 1U);
  EXPECT_FALSE(manifests.pools[0].pool.spec.paused);
}

TEST_F(ManifestsTest, KnowTheFilesOfEachObject) {
  const std::string group = "machineconfiguration.openshift.io/v1";
  folder_.Write("a.yaml", PoolText("worker", "", "true") + "---\n" + ObjectText(group, "KubeletConfig", "set") +
                              "---\n" + ObjectText("config.openshift.io/v1", "Node", "cluster"));
  folder_.Write("b.yaml", PoolOfOperator("worker") + "---\n" + ObjectText(group, "KubeletConfig", "set") + "---\n" +
                              ObjectText("config.openshift.io/v1", "Node", "cluster"));
  const Manifests manifests = Read();
  const std::string a = "\"" + (folder_ / "a.yaml").string() + "\"";
  const std::string b = "\"" + (folder_ / "b.yaml").string() + "\"";
  EXPECT_EQ(manifests.PlaceOf("MachineConfigPool", "worker"), a + " [1]") << "that of the user";
  EXPECT_EQ(manifests.PlaceOf("KubeletConfig", "set"), a + " [2] and " + b + " [2]") << "both take effect";
  EXPECT_EQ(manifests.PlaceOf("Node", "cluster"), b + " [3]") << "the later one";
}

TEST_F(ManifestsTest, NameTheFileThatCannotBeRead) {
  folder_.Write("a.yaml", ObjectText("v1", "ConfigMap", "x") + "---\nmetadata: {name: hunter2}\n");
  EXPECT_EQ(ErrorOfReading(),
            "error parsing \"" + (folder_ / "a.yaml").string() + "\" [2] manifest: Object 'Kind' is missing");
  folder_.Write("a.yaml", "a: {b");
  EXPECT_THAT(ErrorOfReading(), HasSubstr((folder_ / "a.yaml").string()));
  folder_.Write("a.yaml", PoolText("../x", "", "true"));
  EXPECT_THAT(ErrorOfReading(), HasSubstr("\"../x\" cannot be the name of a pool"));
  folder_.Write("a.yaml", PoolText("x", "", "often"));
  EXPECT_THAT(ErrorOfReading(), HasSubstr("[1] manifest: $.spec.paused: must be true or false"));
  folder_.Write("a.yaml", "kind: ConfigMap\nmetadata: {name: x}\n");
  EXPECT_THAT(ErrorOfReading(), HasSubstr("[1] manifest: Object 'apiVersion' is missing"));
  EXPECT_THAT(MessageOf(ReadManifests("/no/such/folder")), HasSubstr("/no/such/folder"));
}

TEST_F(ManifestsTest, RefuseValuesThatGoCannotDecode) {
  struct Row {
    std::string spec;
    std::string problem;
  };
  for (const Row& row : {
           Row{"{clusterDNSIP: 10}",
               "json: cannot unmarshal number into Go struct field "
               "ControllerConfigSpec.spec.clusterDNSIP of type string"},
           {"{additionalTrustBundle: no base64}", "illegal base64 data at input byte 2"},
           {"{imageRegistryBundleData: [{file: f, data: '*'}]}", "illegal base64 data at input byte 0"},
           {"{images: {a: true}}",
            "json: cannot unmarshal bool into Go struct field "
            "ControllerConfigSpec.spec.images of type string"},
           {"{dns: {spec: []}}",
            "json: cannot unmarshal array into Go struct field DNS.spec.dns.spec of type "
            "v1.DNSSpec"},
           {"{network: {mtuMigration: {machine: {to: -1}}}}",
            "json: cannot unmarshal number -1 into Go struct field MTUMigrationValues.spec.network.mtuMigration."
            "machine.to of type uint32"},
       }) {
    folder_.Write("a.yaml",
                  "apiVersion: machineconfiguration.openshift.io/v1\nkind: ControllerConfig\n"
                  "metadata: {name: c}\nspec: " +
                      row.spec + "\n");
    EXPECT_EQ(ErrorOfReading(), "error parsing \"" + (folder_ / "a.yaml").string() + "\" [1] manifest: " + row.problem);
  }
  folder_.Write("a.yaml",
                "apiVersion: machineconfiguration.openshift.io/v1\nkind: ControllerConfig\n"
                "metadata: {name: c}\n"
                "spec: {clusterDNSIP: null, rootCAData: \"eA==\\n\", unknown: 1, infra: {kind: I, "
                "status: {platformStatus: {type: AWS}}}, network: {mtuMigration: {machine: {to: 1}}}}\n");
  EXPECT_TRUE(Read().controller_config);
  folder_.Write("a.yaml",
                "apiVersion: config.openshift.io/v1\nkind: APIServer\nmetadata: {name: cluster}\n"
                "spec: {tlsSecurityProfile: 5}\n");
  EXPECT_THAT(ErrorOfReading(), HasSubstr("[1] manifest: $.spec.tlsSecurityProfile: must be an object"));
}

TEST_F(ManifestsTest, ReportObjectsWithoutEffect) {
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
