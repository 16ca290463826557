// SPDX-License-Identifier: Apache-2.0
#include "generated/bootstrap.h"

#include <algorithm>
#include <stdexcept>
#include <string>
#include <vector>

#include "base/base64.h"
#include "generated/read_back.h"
#include "unit/generated/bootstrap_fixture.h"

namespace pintle::generated {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr const char* kForWorkers = R"("machineConfigPoolSelector": {"matchLabels": {"pool": "worker"}})";

std::string Managed(const std::string& kind, const std::string& name, const std::string& spec) {
  return R"({"apiVersion": "machineconfiguration.openshift.io/v1", "kind": ")" + kind + R"(", "metadata": {"name": ")" +
         name + R"("}, "spec": {)" + kForWorkers + ", " + spec + "}}";
}

std::vector<std::string> NamesOf(const BootstrapConfigs& made) {
  std::vector<std::string> names;
  for (const MachineConfig& config : made.configs) names.push_back(config.name);
  return names;
}

const MachineConfig& ConfigNamed(const BootstrapConfigs& made, const std::string& name) {
  const auto found = std::find_if(made.configs.begin(), made.configs.end(),
                                  [&](const MachineConfig& config) { return config.name == name; });
  if (found == made.configs.end()) throw std::runtime_error("there is no " + name);
  return *found;
}

std::string FileIn(const BootstrapConfigs& made, const std::string& config, const std::string& path) {
  const MachineConfig& found = ConfigNamed(made, config);
  return ContentsOfFile({&found, 1}, path).value_or("(none)");
}

TEST(ConfigsAtBootstrap, AreMadeForEachPoolInTheOrderOfTheOperator) {
  Manifests manifests = SmallManifests({"master", "worker", "infra"});
  AddText(Managed("KubeletConfig", "pods", R"("kubeletConfig": {"maxPods": 9})"), manifests);
  AddText(Managed("ContainerRuntimeConfig", "level", R"("containerRuntimeConfig": {"logLevel": "debug"})"), manifests);
  const auto made = ValueOf(ConfigsAtBootstrap(manifests, SmallTemplates(), SmallSettings()));
  EXPECT_THAT(NamesOf(made),
              ElementsAre("01-master", "01-worker", "99-master-generated-registries", "99-worker-generated-registries",
                          "99-infra-generated-registries", "99-worker-generated-containerruntime",
                          "98-master-generated-kubelet", "98-worker-generated-kubelet", "98-infra-generated-kubelet",
                          "97-master-generated-kubelet", "97-worker-generated-kubelet", "97-infra-generated-kubelet",
                          "99-worker-generated-kubelet"));
  EXPECT_THAT(made.complaints, IsEmpty());
  EXPECT_THAT(FileIn(made, "99-worker-generated-kubelet", "/etc/kubernetes/kubelet.conf"), HasSubstr("maxPods: 9\n"));
  EXPECT_THAT(FileIn(made, "98-infra-generated-kubelet", "/etc/kubernetes/kubelet.conf"), HasSubstr("GateOn: true"));
  EXPECT_EQ(FileIn(made, "01-worker", "/var/lib/kubelet/config.json"), R"({"auths":{}})");
  // Without a Node object, its defaults apply.  Unlike in a running cluster, a custom pool gets them, too.
  EXPECT_TRUE(ConfigNamed(made, "97-infra-generated-kubelet").kernel_arguments.has_value());
  // The controller of the cluster makes this config again, since no build has signed it.
  EXPECT_THAT(ConfigNamed(made, "99-worker-generated-registries").annotations, IsEmpty());
}

TEST(ConfigsAtBootstrap, ReportTemplatesThatCannotBeExecutedInTheWordsOfTheOperator) {
  Manifests manifests = SmallManifests();
  AddText(Managed("ContainerRuntimeConfig", "level", R"("containerRuntimeConfig": {"logLevel": "debug"})"), manifests);
  const TemplateFolder no_templates("t");
  const auto problem_of = [&](MadeFrom from) {
    BootstrapSettings settings = SmallSettings();
    settings.only = {.sources = {from}};
    return MessageOf(ConfigsAtBootstrap(manifests, no_templates, settings));
  };
  const std::string why = "failed to read dir \"t/master\": open t/master: no such file or directory";
  const std::string of_kubelets =
      "could not generate the original Kubelet config ignition: GenerateMachineConfigsforRole failed with error: " +
      why;
  const std::string of_runtimes = "generateMachineConfigsforRole failed with error " + why;
  EXPECT_EQ(problem_of(MadeFrom::kNodeSettings), of_kubelets);
  EXPECT_EQ(problem_of(MadeFrom::kFeatureGate), of_kubelets);
  EXPECT_EQ(problem_of(MadeFrom::kImages), "could not generate original ContainerRuntime Configs: " + of_runtimes);
  EXPECT_EQ(problem_of(MadeFrom::kRuntimeConfigs),
            "could not generate origin ContainerRuntime Configs: " + of_runtimes);
}

TEST(ConfigsAtBootstrap, UseTheGatesOfTheRelease) {
  Manifests manifests = SmallManifests();
  BootstrapSettings settings = SmallSettings();
  settings.release = "4.99.0";
  EXPECT_EQ(MessageOf(ConfigsAtBootstrap(manifests, SmallTemplates(), settings)),
            "error creating feature gates handler: unable to determine features: missing desired version \"4.99.0\" in "
            "featuregates.config.openshift.io/cluster");
  EXPECT_EQ(ReleaseOf(*manifests.controller_config), "0.0.1-snapshot");
  (*manifests.controller_config)["metadata"]["annotations"][api::kReleaseImageVersionAnnotation] = "4.99.0";
  EXPECT_EQ(ReleaseOf(*manifests.controller_config), "4.99.0");
}

TEST(ConfigsAtBootstrap, UseImagePoliciesOnlyWithTheirFeatureGate) {
  Manifests manifests = SmallManifests();
  AddText(R"({"apiVersion": "config.openshift.io/v1", "kind": "ClusterImagePolicy", "metadata": {"name": "p"},
              "spec": {"scopes": ["s.test"], "policy": {"rootOfTrust": {"policyType": "PublicKey",
                       "publicKey": {"keyData": ")" +
              EncodeBase64("-----BEGIN PUBLIC KEY-----\nb3du\n-----END PUBLIC KEY-----\n") + R"("}}}}})",
          manifests);
  const auto policy_of = [&] {
    const auto made = ValueOf(ConfigsAtBootstrap(manifests, SmallTemplates(), SmallSettings()));
    return FileIn(made, "99-worker-generated-registries", "/etc/containers/policy.json");
  };
  EXPECT_EQ(policy_of(), "(none)");
  manifests.feature_gate->status.feature_gates[0].enabled.push_back({"SigstoreImageVerification"});
  EXPECT_THAT(policy_of(), HasSubstr("s.test"));
}

TEST(ConfigsAtBootstrap, AddTheRegistryOfAnInternalReleaseImage) {
  Manifests manifests = SmallManifests();
  AddText(R"({"apiVersion": "machineconfiguration.openshift.io/v1alpha1", "kind": "InternalReleaseImage",
              "metadata": {"name": "cluster"}})",
          manifests);
  EXPECT_THAT(MessageOf(ConfigsAtBootstrap(manifests, SmallTemplates(), SmallSettings())),
              HasSubstr("internal-release-image-registry-auth"));
  AddText(R"({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "internal-release-image-registry-auth"},
              "data": {"password": "czNjcmV0"}})",
          manifests);
  const auto made = ValueOf(ConfigsAtBootstrap(manifests, SmallTemplates(), SmallSettings()));
  EXPECT_EQ(FileIn(made, "01-master", "/var/lib/kubelet/config.json"),
            R"({"auths":{"api-int.demo.test:22625":{"auth":")" + EncodeBase64("openshift:s3cret") +
                R"("},"localhost:22625":{"auth":")" + EncodeBase64("openshift:s3cret") + R"("}}})");
}

TEST(ConfigsAtBootstrap, ReportRegistriesThatCannotBeBlocked) {
  Manifests manifests = SmallManifests();
  AddText(R"({"apiVersion": "config.openshift.io/v1", "kind": "Image", "metadata": {"name": "cluster"},
              "spec": {"registrySources": {"blockedRegistries": ["r.test"]}}})",
          manifests);
  EXPECT_THAT(ValueOf(ConfigsAtBootstrap(manifests, SmallTemplates(), SmallSettings())).complaints,
              ElementsAre(HasSubstr("r.test")));
}

TEST(ConfigsAtBootstrap, ReportAStorageConfThatCannotBeMade) {
  Manifests manifests = SmallManifests();
  AddText(Managed("ContainerRuntimeConfig", "large", R"("containerRuntimeConfig": {"overlaySize": "9G"})"), manifests);
  TemplateFolder templates = SmallTemplates();
  templates.Add("worker/01-worker/_base/files/storage",
                "path: /etc/containers/storage.conf\nmode: 0644\ncontents: {inline: 'storage = 1'}\n");
  const auto made = ValueOf(ConfigsAtBootstrap(manifests, templates, SmallSettings()));
  EXPECT_THAT(made.complaints,
              ElementsAre(HasSubstr("ContainerRuntimeConfig large: its overlaySize and its additional stores have no "
                                    "effect in the pool worker, because")));
  EXPECT_THAT(NamesOf(made), testing::Contains("99-worker-generated-containerruntime"));
}

TEST(ConfigsAtBootstrap, RefuseASecondKubeletConfigForAPool) {
  Manifests manifests = SmallManifests();
  for (const char* name : {"a", "b"}) AddText(Managed("KubeletConfig", name, R"("logLevel": 3)"), manifests);
  EXPECT_EQ(MessageOf(ConfigsAtBootstrap(manifests, SmallTemplates(), SmallSettings())),
            "error found multiple KubeletConfigs targeting MachineConfigPool worker. Please apply only one "
            "KubeletConfig manifest for each pool during installation");
}

TEST(CheckKubeletAndRuntimeConfigs, NamesThePlaceOfTheFirstWrongObject) {
  Manifests manifests = SmallManifests();
  AddText(Managed("ContainerRuntimeConfig", "few", R"("containerRuntimeConfig": {"pidsLimit": 3})"), manifests);
  EXPECT_EQ(MessageOf(CheckKubeletAndRuntimeConfigs(manifests)),
            "\"manifests/a.yaml\" [1]: ContainerRuntimeConfig few: invalid PidsLimit 3");
  AddText(Managed("KubeletConfig", "loud", R"("logLevel": 11)"), manifests);
  EXPECT_EQ(MessageOf(CheckKubeletAndRuntimeConfigs(manifests)),
            "\"manifests/a.yaml\" [1]: KubeletConfig loud: KubeletConfig's LogLevel is not valid [0,10]: 11");
  EXPECT_TRUE(Succeeded(CheckKubeletAndRuntimeConfigs(SmallManifests())));
}

}  // namespace
}  // namespace pintle::generated
