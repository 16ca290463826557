// SPDX-License-Identifier: Apache-2.0
#include "generated/container_runtime.h"

#include <gtest/gtest.h>

#include "json/fields.h"
#include "json/parse.h"

namespace pintle::generated {
namespace {

api::ContainerRuntimeConfig ConfigWith(std::string_view json) {
  json::Report report;
  auto document = json::Parse(R"({"metadata":{"name":"crc"},"spec":)" + std::string(json) + "}");
  EXPECT_TRUE(document) << json;
  auto config = json::Decode<api::ContainerRuntimeConfig>(*std::move(document), report);
  EXPECT_FALSE(report.has_errors()) << json;
  return config;
}

api::ContainerRuntimeConfig Wanting(std::string_view json) {
  return ConfigWith(R"({"containerRuntimeConfig":)" + std::string(json) + "}");
}

struct Check {
  std::string_view config;
  std::string_view error;  // Empty if the config is valid.
};

TEST(CheckContainerRuntimeConfig, HasTheWordsOfTheOperator) {
  constexpr std::string_view kLevels = ", must be one of error, fatal, panic, warn, info, debug, or trace";
  const std::string level = R"(invalid LogLevel "INFO")" + std::string(kLevels);
  for (const Check& row : {
           Check{"{}", ""},
           {R"({"pidsLimit":0})", ""},
           {R"({"pidsLimit":20})", ""},
           {R"({"pidsLimit":19})", "invalid PidsLimit 19"},
           {R"({"pidsLimit":-1})", "invalid PidsLimit -1"},
           {R"({"logSizeMax":"0"})", ""},
           {R"({"logSizeMax":"-1"})", ""},
           {R"({"logSizeMax":"8193"})", ""},
           {R"({"logSizeMax":8192})", R"(invalid LogSizeMax "8192", cannot be less than 8kB)"},
           {R"({"logSizeMax":"8k"})", R"(invalid LogSizeMax "8k", cannot be less than 8kB)"},
           {R"({"logSizeMax":"0.5"})", R"(invalid LogSizeMax "500m", cannot be less than 8kB)"},
           {R"({"overlaySize":"0"})", ""},
           {R"({"overlaySize":"-1Gi"})", R"(invalid overlaySize "-1Gi", cannot be less than 0)"},
           {R"({"logLevel":"trace"})", ""},
           {R"({"logLevel":"INFO"})", level},
           {R"({"defaultRuntime":"crun"})", ""},
           {R"({"defaultRuntime":"runc"})", ""},
           {R"({"defaultRuntime":"kata"})", R"(invalid DefaultRuntime "kata", must be one of crun, runc)"},
           {R"({"additionalImageStores":[{"path":"/a/"}]})", ""},
           {R"({"additionalImageStores":[{"path":""}]})", "invalid AdditionalImageStores: path must not be empty"},
           {R"({"additionalLayerStores":[{"path":"/"}]})",
            "invalid AdditionalLayerStores path \"/\": must be an absolute path containing only alphanumeric "
            "characters, '/', '.', '_', and '-'"},
           {R"({"additionalArtifactStores":[{"path":"/a//b"}]})",
            "invalid AdditionalArtifactStores path \"/a//b\": must not contain consecutive forward slashes"},
           // Only the first wrong setting is reported, but all wrong stores.
           {R"({"pidsLimit":1,"logLevel":"x"})", "invalid PidsLimit 1"},
           {R"({"additionalArtifactStores":[{"path":""}],"additionalLayerStores":[{"path":""}]})",
            "invalid AdditionalLayerStores: path must not be empty\n"
            "invalid AdditionalArtifactStores: path must not be empty"},
       }) {
    const auto checked = CheckContainerRuntimeConfig(Wanting(row.config));
    EXPECT_EQ(checked ? "" : checked.error().message(), row.error) << row.config;
  }
}

// The Machine Config Operator's controller panics at this object.
TEST(CheckContainerRuntimeConfig, RefusesAnObjectWithoutItsConfig) {
  const auto checked = CheckContainerRuntimeConfig(ConfigWith("{}"));
  ASSERT_FALSE(checked);
  EXPECT_EQ(checked.error().message(),
            "the ContainerRuntimeConfig crc has no spec.containerRuntimeConfig; add one, which may be empty");
}

constexpr std::string_view kStorageTemplate = "[storage]\ndriver = \"overlay\"\n";

std::string PathsAndContents(const RuntimeFiles& made) {
  std::string text;
  for (const NewFile& file : made.files) text += file.path + "|" + file.contents;
  return text;
}

RuntimeFiles FilesFor(std::string_view config, AdditionalStores stores = AdditionalStores::kUsed,
                      std::string_view storage_template = kStorageTemplate) {
  return FilesOf(*Wanting(config).spec.container_runtime_config, storage_template, stores);
}

struct OneFile {
  std::string_view config;
  std::string_view name;
  std::string_view line;
};

TEST(FilesOf, HasADropInForEachSetting) {
  for (const OneFile& row : {
           OneFile{R"({"logLevel":"debug"})", "logLevel", "log_level = \"debug\""},
           {R"({"pidsLimit":0})", "pidsLimit", "pids_limit = 0"},
           {R"({"pidsLimit":4096})", "pidsLimit", "pids_limit = 4096"},
           {R"({"logSizeMax":"50Mi"})", "logSizeMax", "log_size_max = 52428800"},
           {R"({"logSizeMax":"9000.5"})", "logSizeMax", "log_size_max = 9001"},
           {R"({"logSizeMax":"-1"})", "logSizeMax", "log_size_max = -1"},
           {R"({"defaultRuntime":"crun"})", "defaultRuntime", "default_runtime = \"crun\""},
           {R"({"additionalArtifactStores":[{"path":"/a"},{"path":"/b"}]})", "additionalArtifactStores",
            "additional_artifact_stores = [\"/a\", \"/b\"]"},
       }) {
    EXPECT_EQ(PathsAndContents(FilesFor(row.config)), "/etc/crio/crio.conf.d/01-ctrcfg-" + std::string(row.name) +
                                                          "|[crio]\n  [crio.runtime]\n    " + std::string(row.line) +
                                                          "\n")
        << row.config;
  }
}

TEST(FilesOf, HasNoFilesForSettingsThatAreNotSet) {
  for (const std::string_view config : {"{}", R"({"logLevel":""})", R"({"logSizeMax":"0"})", R"({"logSizeMax":"12E"})",
                                        R"({"overlaySize":"0Gi"})", R"({"additionalImageStores":[]})"}) {
    EXPECT_EQ(PathsAndContents(FilesFor(config)), "") << config;
  }
}

TEST(FilesOf, KeepsTheSizeOfTheTemplateIfTheOverlayIsTooLarge) {
  EXPECT_EQ(PathsAndContents(FilesFor(R"({"overlaySize":"12E"})", AdditionalStores::kUsed,
                                      "[storage]\n  [storage.options]\n  size = \"7G\"  # A comment.\n")),
            "/etc/containers/storage.conf|[storage]\n  driver = \"\"\n  runroot = \"\"\n  graphroot = \"\"\n"
            "  [storage.options]\n    size = \"7G\"\n    force_mask = 0\n    auto-userns-min-size = 0\n"
            "    auto-userns-max-size = 0\n");
}

TEST(FilesOf, IgnoresStoresWhileTheirFeatureGateIsDisabled) {
  EXPECT_EQ(
      PathsAndContents(FilesFor(R"({"additionalImageStores":[{"path":"/i"}],"additionalLayerStores":[{"path":"/l"}],)"
                                R"("additionalArtifactStores":[{"path":"/a"}]})",
                                AdditionalStores::kUnused)),
      "");
}

TEST(FilesOf, MakesTheOtherFilesIfTheTemplateOfStorageConfIsInvalid) {
  const RuntimeFiles made =
      FilesFor(R"({"overlaySize":"1G","logLevel":"info"})", AdditionalStores::kUsed, "[storage]\ndriver = 1\n");
  EXPECT_EQ(made.files.size(), 1U);
  EXPECT_FALSE(made.storage_problem.empty());
}

TEST(FilesOf, AreInTheOrderOfTheOperator) {
  const RuntimeFiles made =
      FilesFor(R"({"pidsLimit":20,"logLevel":"info","logSizeMax":"1G","overlaySize":"1G","defaultRuntime":"crun",)"
               R"("additionalArtifactStores":[{"path":"/a"}]})");
  std::string names;
  for (const NewFile& file : made.files) names += file.path.substr(file.path.rfind('/') + 1) + " ";
  EXPECT_EQ(names,
            "storage.conf 01-ctrcfg-logLevel 01-ctrcfg-pidsLimit 01-ctrcfg-logSizeMax 01-ctrcfg-defaultRuntime "
            "01-ctrcfg-additionalArtifactStores ");
}

api::MachineConfigPool PoolNamed(std::string_view name) {
  api::MachineConfigPool pool;
  pool.metadata.name = name;
  pool.metadata.labels = {{"pool", std::string(name)}};
  return pool;
}

TEST(RuntimeConfigsAtBootstrap, AreAtMostOneForEachPool) {
  const RuntimeTemplates templates{
      .storage_conf = std::string(kStorageTemplate), .registries_conf = {}, .policy_json = {}};
  const auto master = PoolNamed("master");
  const auto worker = PoolNamed("worker");
  const std::vector<PoolWithTemplates> pools = {{&master, &templates}, {&worker, &templates}};
  const auto for_workers = ConfigWith(
      R"({"machineConfigPoolSelector":{"matchLabels":{"pool":"worker"}},"containerRuntimeConfig":{"logLevel":"info"}})");
  const auto made = RuntimeConfigsAtBootstrap(std::vector{for_workers}, pools, AdditionalStores::kUsed, "HASH");
  ASSERT_TRUE(made);
  ASSERT_EQ(made->configs.size(), 1U);
  EXPECT_EQ(made->configs.front().name, "99-worker-generated-containerruntime");
  EXPECT_EQ(made->configs.front().role, "worker");
  EXPECT_EQ(made->configs.front().annotations, MadeBy("HASH"));
  EXPECT_EQ(made->configs.front().owner_references.at(0).uid, "");
  EXPECT_TRUE(made->complaints.empty());

  const auto twice =
      RuntimeConfigsAtBootstrap(std::vector{for_workers, for_workers}, pools, AdditionalStores::kUsed, "HASH");
  EXPECT_EQ(
      twice.error().message(),
      "could not marshal container runtime ignition: error found multiple ContainerConfig targeting "
      "MachineConfigPool worker. Please apply only one ContainerConfig manifest for each pool during installation");
}

TEST(RuntimeConfig, IsControlledByItsObject) {
  auto owner = Wanting("{}");
  owner.metadata.uid = "u-1";
  const auto made = RuntimeConfig("99-worker-generated-containerruntime-1", PoolNamed("worker"), {}, owner, "HASH");
  EXPECT_EQ(made.name, "99-worker-generated-containerruntime-1");
  EXPECT_EQ(made.role, "worker");
  EXPECT_EQ(made.config, R"({"ignition":{"version":"3.5.0"}})");
  EXPECT_EQ(made.owner_references.at(0).name, "crc");
  EXPECT_EQ(made.owner_references.at(0).uid, "u-1");
  EXPECT_EQ(made.owner_references.at(0).controller, true);
}

TEST(RuntimeConfigsAtBootstrap, ChecksAllObjectsBeforeItMakesAConfig) {
  const auto wrong = RuntimeConfigsAtBootstrap(std::vector{Wanting("{}"), Wanting(R"({"pidsLimit":1})")}, {},
                                               AdditionalStores::kUsed, "HASH");
  EXPECT_EQ(wrong.error().message(), "invalid PidsLimit 1");
}

}  // namespace
}  // namespace pintle::generated
