// SPDX-License-Identifier: Apache-2.0
#include "controller/config_change.h"

#include <gtest/gtest.h>

#include <string>

#include "json/field_list.h"
#include "json/parse.h"

namespace pintle::controller {
namespace {

constexpr const char* kNewConfig = R"({"ignition":{"version":"3.5.0"}})";

generated::MachineConfig WantedConfig() {
  generated::MachineConfig wanted;
  wanted.name = "99-worker-generated-kubelet";
  wanted.role = "worker";
  wanted.annotations = {{"signed", "HASH"}};
  wanted.owner_references = {generated::ControlledBy("KubeletConfig", [] {
    api::ObjectMeta owner;
    owner.name = "kc";
    owner.uid = "new";
    return owner;
  }())};
  wanted.config = kNewConfig;
  return wanted;
}

// Returns the value that a patch sets.
const json::Value* SetValueAt(const ConfigChange& change, std::string_view path) {
  for (const json::Value& step : std::get<json::Value>(change.creation_or_patch)) {
    if (step["path"] == path) return &step["value"];
  }
  return nullptr;
}

TEST(ChangeTo, CreatesAConfigThatIsMissing) {
  const auto change = ChangeTo(nullptr, WantedConfig(), OwnedParts::kConfig, MadeFrom::kKubeletConfigs);
  ASSERT_TRUE(change);
  EXPECT_EQ(change->object, "worker");
  EXPECT_EQ(std::get<api::MachineConfig>(change->creation_or_patch).metadata.labels.at(std::string(api::kRoleLabel)),
            "worker");
}

TEST(ChangeTo, IsAboutTheConfigItselfIfItComesFromTemplates) {
  const auto change = ChangeTo(nullptr, WantedConfig(), OwnedParts::kAll, MadeFrom::kTemplates);
  ASSERT_TRUE(change);
  EXPECT_EQ(change->object, change->name);
}

TEST(ChangeTo, IsNothingForAConfigThatIsAsWanted) {
  api::MachineConfig existing = generated::ToObject(WantedConfig());
  existing.metadata.annotations["team"] = "a";
  existing.metadata.resource_version = "7";
  existing.spec.kernel_arguments = {"quiet"};
  EXPECT_FALSE(ChangeTo(&existing, WantedConfig(), OwnedParts::kConfig, MadeFrom::kKubeletConfigs));
  EXPECT_TRUE(ChangeTo(&existing, WantedConfig(), OwnedParts::kConfigAndArguments, MadeFrom::kKubeletConfigs));
}

TEST(ChangeTo, KeepsWhatOthersHaveSet) {
  api::MachineConfig existing = generated::ToObject(WantedConfig());
  existing.metadata.resource_version = "7";
  existing.metadata.annotations = {{"team", "a"}, {"signed", "OLD"}};
  existing.spec.kernel_arguments = {"quiet"};
  existing.spec.config = {{"ignition", {{"version", "3.4.0"}}}, {"passwd", {{"users", json::Value::array()}}}};
  const auto change = ChangeTo(&existing, WantedConfig(), OwnedParts::kConfig, MadeFrom::kKubeletConfigs);
  ASSERT_TRUE(change);
  // The patch checks the version by "replace", because the API server does not answer a failed "test" with a conflict.
  EXPECT_EQ(std::get<json::Value>(change->creation_or_patch)[0],
            *json::Parse(R"({"op": "replace", "path": "/metadata/resourceVersion", "value": "7"})"));
  EXPECT_EQ(json::ToText(*SetValueAt(*change, "/metadata/annotations")), R"({"signed":"HASH","team":"a"})");
  const json::Value& spec = *SetValueAt(*change, "/spec");
  EXPECT_EQ(json::ToText(spec["config"]), kNewConfig);
  EXPECT_EQ(json::ToText(spec["kernelArguments"]), R"(["quiet"])");
}

TEST(ChangeTo, ReplacesTheControllerAndKeepsOtherOwners) {
  api::MachineConfig existing = generated::ToObject(WantedConfig());
  api::OwnerReference other_owner;
  other_owner.kind = "Other";
  other_owner.name = "o";
  other_owner.uid = "o";
  existing.metadata.owner_references[0].uid = "old";
  existing.metadata.owner_references.push_back(other_owner);
  const auto change = ChangeTo(&existing, WantedConfig(), OwnedParts::kConfig, MadeFrom::kKubeletConfigs);
  ASSERT_TRUE(change);
  const json::Value& owners = *SetValueAt(*change, "/metadata/ownerReferences");
  ASSERT_EQ(owners.size(), 2U);
  EXPECT_EQ(owners[0]["uid"], "o");
  EXPECT_EQ(owners[1]["uid"], "new");
}

}  // namespace
}  // namespace pintle::controller
