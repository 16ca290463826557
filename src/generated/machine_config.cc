// SPDX-License-Identifier: Apache-2.0
#include "generated/machine_config.h"

#include <cassert>
#include <utility>

#include "base/base64.h"
#include "base/digest.h"
#include "ignition/go_text.h"
#include "json/parse.h"

namespace pintle::generated {
namespace {

constexpr std::int64_t kReadableByAll = 0644;
constexpr std::string_view kBase64Text = "data:text/plain;charset=utf-8;base64,";

}  // namespace

ignition::File ToIgnition(const NewFile& file) {
  ignition::File made;
  made.path = file.path;
  made.mode = kReadableByAll;
  made.overwrite = true;
  made.contents.compression = "";  // The operator also writes "compression": "".
  made.contents.source = std::string(kBase64Text) + EncodeBase64(file.contents);
  return made;
}

ignition::Config ConfigOf(const std::vector<NewFile>& files) {
  ignition::Config config;
  config.ignition.version = ignition::kNewestVersion;
  for (const NewFile& file : files) config.storage.files.push_back(ToIgnition(file));
  return config;
}

std::string ConfigText(const ignition::Config& config, ignition::EmptyStructs empty_structs) {
  std::string text;
  ignition::WriteGoText(config, text, empty_structs);
  return text;
}

MachineConfig NewConfig(std::string name, std::string_view pool, const std::vector<NewFile>& files) {
  MachineConfig config;
  config.name = std::move(name);
  config.role = pool;
  config.config = ConfigText(ConfigOf(files));
  return config;
}

api::Annotations MadeBy(std::string_view controller_version) {
  return {{std::string(api::kGeneratedByControllerVersionAnnotation), std::string(controller_version)}};
}

api::OwnerReference ControlledBy(std::string_view kind, const api::ObjectMeta& owner) {
  return {
      .api_version = std::string(api::kMachineConfigApiVersion),
      .kind = std::string(kind),
      .name = owner.name,
      .uid = owner.uid,
      .controller = true,
      .block_owner_deletion = true,
  };
}

api::OwnerReference OwnedBy(std::string_view api_version, std::string_view kind, const api::ObjectMeta& owner) {
  api::OwnerReference reference = OwnedAtBootstrap(api_version, kind);
  reference.name = owner.name;
  reference.uid = owner.uid;
  return reference;
}

api::OwnerReference OwnedAtBootstrap(std::string_view api_version, std::string_view kind) {
  return {.api_version = std::string(api_version),
          .kind = std::string(kind),
          .name = "",
          .uid = "",
          .controller = {},
          .block_owner_deletion = {}};
}

std::string ConfigDigest(const MachineConfig& config) { return Sha256(config.config).hex(); }

api::MachineConfig ToObject(const MachineConfig& config) {
  api::MachineConfig object;
  object.api_version = api::kMachineConfigApiVersion;
  object.kind = api::MachineConfig::kKind;
  object.metadata.name = config.name;
  object.metadata.labels.emplace(api::kRoleLabel, config.role);
  object.metadata.annotations = config.annotations;
  object.metadata.owner_references = config.owner_references;
  Result<json::Value> parsed = json::Parse(config.config);
  assert(parsed);  // Our own writer has made this text.
  object.spec.config = *std::move(parsed);
  object.spec.kernel_arguments = config.kernel_arguments;
  object.spec.extensions = config.extensions;
  return object;
}

}  // namespace pintle::generated
