// SPDX-License-Identifier: Apache-2.0
#include "generated/bootstrap_files.h"

#include <algorithm>
#include <stdexcept>
#include <string>
#include <vector>

#include "machineconfig/yaml.h"
#include "unit/generated/bootstrap_fixture.h"

namespace pintle::generated {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

const BootstrapVersions kVersions{.controller = "HASH", .operator_version = "v1"};

std::string ConfigManifest(const std::string& name, const std::string& spec) {
  return R"({"apiVersion": "machineconfiguration.openshift.io/v1", "kind": "MachineConfig", "metadata": {"name": ")" +
         name + R"(", "labels": {"machineconfiguration.openshift.io/role": "worker"}}, "spec": )" + spec + "}";
}

// Returns manifests whose pool needs no generated configs.
Manifests OnePool() {
  Manifests manifests = SmallManifests({"worker"});
  AddText(ConfigManifest("50-user", R"({"config": {"ignition": {"version": "3.2.0"}}, "kernelArguments": ["quiet"]})"),
          manifests);
  return manifests;
}

BootstrapFiles FilesMadeOf(const Manifests& manifests) { return ValueOf(FilesForBootstrap(manifests, {}, kVersions)); }

json::Value DocumentAt(const BootstrapFiles& made, const std::string& path) {
  const auto file = std::find_if(made.files.begin(), made.files.end(),
                                 [&](const BootstrapFile& candidate) { return candidate.path == path; });
  if (file == made.files.end()) throw std::runtime_error("there is no " + path);
  return ValueOf(machineconfig::ParseYaml(file->text)).at(0);
}

TEST(FilesForBootstrap, AreThePoolsAndTheirConfigsAndPoolsComeLast) {
  const BootstrapFiles made = FilesMadeOf(OnePool());
  ASSERT_EQ(made.rendered.size(), 1U);
  const std::string& config = made.rendered[0].config;
  EXPECT_THAT(config, StartsWith("rendered-worker-"));
  std::vector<std::string> paths;
  for (const BootstrapFile& file : made.files) paths.push_back(file.path);
  EXPECT_THAT(paths, ElementsAre("controller-config/machine-config-controller.yaml",
                                 "machine-configs/" + config + ".yaml", "machine-pools/worker.yaml"));
  const json::Value rendered = DocumentAt(made, "machine-configs/" + config + ".yaml");
  EXPECT_EQ(rendered["kind"], "MachineConfig");
  EXPECT_EQ(rendered["spec"]["kernelArguments"][0], "quiet");
  EXPECT_EQ(rendered["metadata"]["ownerReferences"][0]["uid"], "uid-of-worker");
  const json::Value pool = DocumentAt(made, "machine-pools/worker.yaml");
  for (const char* part : {"spec", "status"}) {
    EXPECT_EQ(pool[part]["configuration"]["name"], config);
    EXPECT_EQ(pool[part]["configuration"]["source"].size(), 1U);
    EXPECT_EQ(pool[part]["configuration"]["source"][0]["name"], "50-user");
  }
  EXPECT_EQ(pool["metadata"]["labels"]["pool"], "worker");
  EXPECT_EQ(pool["spec"]["paused"], false);
  EXPECT_EQ(pool["status"]["machineCount"], 0);
}

TEST(FilesForBootstrap, HaveTheApiServerIfThereIsOne) {
  Manifests manifests = OnePool();
  AddText(R"({"apiVersion": "config.openshift.io/v1", "kind": "APIServer", "metadata": {"name": "cluster"},
              "spec": {"tlsSecurityProfile": {"type": "Modern"}}})",
          manifests);
  const json::Value server = DocumentAt(FilesMadeOf(manifests), "api-server/api-server.yaml");
  EXPECT_EQ(server["spec"]["tlsSecurityProfile"]["type"], "Modern");
  EXPECT_EQ(server["spec"]["clientCA"]["name"], "");
}

TEST(FilesForBootstrap, KeepAFieldThatWeDoNotKnow) {
  Manifests manifests = OnePool();
  (*manifests.controller_config)["spec"]["news"] = "yes";
  manifests.pools[0].document["spec"]["news"] = 7;
  const BootstrapFiles made = FilesMadeOf(manifests);
  EXPECT_EQ(DocumentAt(made, "controller-config/machine-config-controller.yaml")["spec"]["news"], "yes");
  EXPECT_EQ(DocumentAt(made, "machine-pools/worker.yaml")["spec"]["news"], 7);
}

TEST(FilesForBootstrap, NameThePoolAndThePlaceOfAWrongConfig) {
  Manifests manifests = OnePool();
  AddText(ConfigManifest("60-bad", R"({"kernelType": "fast"})"), manifests);
  const std::string message = MessageOf(FilesForBootstrap(manifests, {}, kVersions));
  EXPECT_THAT(message, StartsWith("rendering pool worker: \"manifests/a.yaml\" [1]: "));
  EXPECT_THAT(message, HasSubstr("kernelType=fast is invalid"));
}

TEST(FilesForBootstrap, WarnOfConfigsThatTheClusterCannotHave) {
  Manifests manifests = OnePool();
  MachineConfig generated;
  generated.name = "60-generated";
  generated.config = R"({"ignition":{"version":"3.5.0"}})";
  EXPECT_THAT(ValueOf(FilesForBootstrap(manifests, {generated}, kVersions)).warnings, ElementsAre());
  for (const char* name : {"50-user", "60-generated", ""}) AddText(ConfigManifest(name, "{}"), manifests);
  EXPECT_THAT(ValueOf(FilesForBootstrap(manifests, {generated}, kVersions)).warnings,
              ElementsAre(HasSubstr("[1]: MachineConfig : it has no name; set metadata.name"),
                          HasSubstr("[1]: MachineConfig 50-user: 2 manifests have this name; keep only one of them"),
                          HasSubstr("[1]: MachineConfig 60-generated: a generated config has this name")));
}

TEST(FilesForBootstrap, NeedAConfigForEachPool) {
  EXPECT_EQ(MessageOf(FilesForBootstrap(SmallManifests({"worker"}), {}, kVersions)),
            "rendering pool worker: couldn't find any MachineConfigs for pool: worker");
}

TEST(FilesForBootstrap, RefuseTheControllerConfigOfAnotherVersion) {
  EXPECT_EQ(MessageOf(FilesForBootstrap(OnePool(), {}, {.controller = "HASH", .operator_version = "v2"})),
            "rendering pool worker: ignoring controller config generated from v1 (my version: v2)");
}

TEST(FilesForBootstrap, TakeTheImagesOfTheStreamThatWorkersFollow) {
  Manifests manifests = SmallManifests({"worker", "infra"});
  for (const char* role : {"worker", "infra"}) {
    AddText(R"({"apiVersion": "machineconfiguration.openshift.io/v1", "kind": "MachineConfig", "metadata": {"name":
                "50-)" +
                std::string(role) + R"(", "labels": {"machineconfiguration.openshift.io/role": ")" + role +
                R"("}}, "spec": {}})",
            manifests);
  }
  AddText(R"({"apiVersion": "machineconfiguration.openshift.io/v1", "kind": "OSImageStream",
              "metadata": {"name": "cluster"}, "status": {"defaultStream": "nine", "availableStreams": [
              {"name": "nine", "osImage": "r.test/9@sha256:9", "osExtensionsImage": "e"},
              {"name": "ten", "osImage": "r.test/10@sha256:a", "osExtensionsImage": "e"}]}})",
          manifests);
  manifests.pools[0].pool.spec.os_image_stream = api::NameReference{"ten"};
  const BootstrapFiles made = FilesMadeOf(manifests);
  for (const RenderedPool& rendered : made.rendered) {
    EXPECT_EQ(DocumentAt(made, "machine-configs/" + rendered.config + ".yaml")["spec"]["osImageURL"],
              "r.test/10@sha256:a")
        << rendered.pool;
  }
}

}  // namespace
}  // namespace pintle::generated
