// SPDX-License-Identifier: Apache-2.0
#include "generated/runtime_templates.h"

#include <gtest/gtest.h>

#include <vector>

namespace pintle::generated {
namespace {

MachineConfig ConfigWithFiles(const std::vector<NewFile>& files) {
  MachineConfig config;
  config.config = ConfigText(ConfigOf(files));
  return config;
}

const NewFile kStorageFile{"/etc/containers/storage.conf", "s"};
const NewFile kRegistriesFile{"/etc/containers/registries.conf", "r"};
const NewFile kPolicyFile{"/etc/containers/policy.json", "p"};

TEST(FindRuntimeTemplates, SearchesAllConfigs) {
  MachineConfig unreadable;
  unreadable.config = "{}";
  const std::vector configs = {unreadable, ConfigWithFiles({kStorageFile}), ConfigWithFiles({}),
                               ConfigWithFiles({kPolicyFile, kRegistriesFile}),
                               ConfigWithFiles({{kStorageFile.path, "later"}})};
  const auto templates = FindRuntimeTemplates(configs);
  ASSERT_TRUE(templates);
  EXPECT_EQ(templates->storage_conf, "s");
  EXPECT_EQ(templates->registries_conf, "r");
  EXPECT_EQ(templates->policy_json, "p");
}

TEST(FindRuntimeTemplates, NamesAllMissingFiles) {
  EXPECT_EQ(FindRuntimeTemplates(std::vector{ConfigWithFiles({kRegistriesFile, kPolicyFile})}).error().message(),
            "could not generate old container runtime configs: could not find Storage Config");
  EXPECT_EQ(FindRuntimeTemplates(std::vector{ConfigWithFiles({kRegistriesFile})}).error().message(),
            "could not generate old container runtime configs: [could not find Storage Config, could not find Policy "
            "JSON]");
}

TEST(FindRuntimeTemplates, ReportsThatTheLastConfigCannotBeParsed) {
  MachineConfig unreadable;
  unreadable.config = R"({"ignition":{"version":""}})";
  constexpr std::string_view kInvalidVersion =
      "failed to parse Ignition config: parsing Ignition config failed: invalid version. Supported spec versions: "
      "2.2,3.0,3.1,3.2,3.3,3.4,3.5";
  EXPECT_EQ(
      FindRuntimeTemplates(std::vector{ConfigWithFiles({kRegistriesFile, kPolicyFile}), unreadable}).error().message(),
      "could not generate old container runtime configs: parsing Storage Ignition config failed with error: " +
          std::string(kInvalidVersion));
  EXPECT_EQ(
      FindRuntimeTemplates(std::vector{ConfigWithFiles({kStorageFile}), unreadable}).error().message(),
      "could not generate old container runtime configs: [parsing Registries Ignition config failed with error: " +
          std::string(kInvalidVersion) +
          ", parsing Policy JSON Ignition config failed with error: " + std::string(kInvalidVersion) + "]");
  EXPECT_EQ(
      FindRuntimeTemplates(std::vector{unreadable, ConfigWithFiles({kRegistriesFile, kPolicyFile})}).error().message(),
      "could not generate old container runtime configs: could not find Storage Config");
}

}  // namespace
}  // namespace pintle::generated
