// SPDX-License-Identifier: Apache-2.0
#include "machineconfig/config_input.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <span>
#include <string_view>
#include <utility>

#include "ignition/butane.h"
#include "ignition/compression.h"
#include "ignition/convert.h"
#include "ignition/octal_mode.h"
#include "ignition/parse_with_limit.h"
#include "machineconfig/file_below_file.h"
#include "machineconfig/objects.h"
#include "machineconfig/own_files.h"
#include "machineconfig/sizes.h"
#include "machineconfig/validate.h"
#include "machineconfig/yaml.h"

namespace pintle::machineconfig {
namespace {

constexpr std::string_view kIgnition = "Ignition";
constexpr std::string_view kButane = "Butane";

bool HasYamlName(std::string_view path) {
  const auto ends_path = [&](std::string_view ending) { return path.ends_with(ending); };
  return std::any_of(kConfigEndings.begin(), kConfigEndings.end(), ends_path) && !ends_path(".json") &&
         !ends_path(".ign");
}

bool IsAllBlank(std::string_view text) { return text.find_first_not_of(" \t\r\n") == std::string_view::npos; }

// Returns true for some YAML as well.
bool BeginsLikeJson(std::string_view text) {
  constexpr std::string_view kBeginnings = "{[\"";
  return kBeginnings.find(text[text.find_first_not_of(" \t\r\n")]) != std::string_view::npos;
}

// A config may be gzipped JSON in base64, which has no colon.  YAML without a colon is not a config.
bool LooksLikeYaml(std::string_view text) {
  return !ignition::IsGzip(text) && text.find(':') != std::string_view::npos;
}

template <typename T>
void StoreResult(Result<T> result, ConfigDocument& document) {
  if (result) {
    document.config = *std::move(result);
  } else {
    document.error = std::move(result).error();
  }
}

// Applies the checks that a MachineConfig with this config would have to pass.
void CheckAsMachineConfig(ConfigDocument& document) {
  if (!document.config) return;
  if (const auto valid = CheckIgnition(*document.config); !valid) document.refusal_by_machines = valid.error();
}

// Applies the checks that a machine makes before it accepts a config.
void CheckMachineAccepts(ConfigDocument& document) {
  if (!document.config || document.refusal_by_machines) return;
  if (const auto own_files = CheckOwnFiles(*document.config); !own_files) {
    document.refusal_by_machines = own_files.error();
  } else if (const auto below = CheckFilesBelowFiles(*document.config); !below) {
    document.refusal_by_machines = below.error();
  } else if (const auto size = CheckFitsNode(*document.config); !size) {
    document.refusal_by_machines = size.error();
  }
}

void WarnAboutUnusedKeys(const json::Value& object, const json::Path& path, std::span<const std::string_view> used,
                         json::Report& report) {
  if (!object.is_object()) return;
  for (const auto& [key, member] : object.members()) {
    if (std::find(used.begin(), used.end(), key) != used.end()) continue;
    report.Warning(json::Path(path, key), fmt::format("Unused key {}", key));
  }
}

// Warns about keys beside the Ignition config.  An API server drops such keys without a warning.
void WarnAboutUnusedKeys(const json::Value& machine_config, json::Report& report) {
  constexpr std::array<std::string_view, 5> kUsed = {"apiVersion", "kind", "metadata", "spec", "status"};
  constexpr std::array<std::string_view, 7> kUsedInSpec = {
      "baseOSExtensionsContainerImage", "config", "extensions", "fips", "kernelArguments", "kernelType", "osImageURL"};
  const json::Path root;
  WarnAboutUnusedKeys(machine_config, root, kUsed, report);
  if (const json::Value* spec = machine_config.Find("spec"); spec != nullptr) {
    WarnAboutUnusedKeys(*spec, json::Path(root, "spec"), kUsedInSpec, report);
  }
}

ConfigDocument ReadMachineConfigDocument(json::Value value) {
  ConfigDocument document;
  document.kind = api::MachineConfig::kKind;
  if (machineconfig::KindOf(value) == api::MachineConfig::kKind) WarnAboutUnusedKeys(value, document.report);
  auto machine_config = ReadMachineConfig(std::move(value));
  if (!machine_config) {
    document.error = machine_config.error();
    return document;
  }
  document.name = machine_config->metadata.name;
  document.config = FindProblems(*machine_config, document.report);
  if (const auto all = document.report.ToResult(); !all) document.error = all.error();
  document.object = *std::move(machine_config);
  return document;
}

// Makes a MachineConfig of Butane's metadata and of the other fields beside the Ignition part.
api::MachineConfig ObjectOf(ignition::Butane& butane) {
  api::MachineConfig object;
  object.metadata.name = std::move(butane.metadata.name);
  object.metadata.labels = std::move(butane.metadata.labels);
  object.spec.kernel_type = std::move(butane.openshift.kernel_type);
  object.spec.kernel_arguments = std::move(butane.openshift.kernel_arguments);
  object.spec.extensions = std::move(butane.openshift.extensions);
  object.spec.fips = butane.openshift.fips;
  return object;
}

}  // namespace

ConfigDocument ReadButaneDocument(json::Value value) {
  ConfigDocument document;
  document.kind = kButane;
  auto butane = ignition::ReadButane(std::move(value), document.report);
  if (butane) {
    document.object = ObjectOf(*butane);
    // Version 3.0 is never written, because 3.1 has all of it.
    document.version = std::max(butane->ignition_version, ignition::SpecVersion::k3_1);
    document.config = std::move(butane->config);
  } else {
    document.error = std::move(butane).error();
  }
  return document;
}

namespace {

bool IsButaneOrHasKind(const json::Value& value) {
  return value.is_object() && (ignition::IsButane(value) || value.contains("kind"));
}

ConfigDocument ReadDocument(json::Value value) {
  if (ignition::IsButane(value)) return ReadButaneDocument(std::move(value));
  if (IsButaneOrHasKind(value)) return ReadMachineConfigDocument(std::move(value));
  ConfigDocument document;
  document.kind = kIgnition;
  if (!value.is_object()) {
    document.error = Error(ErrorKind::kInvalid,
                           "not a config: a config begins with kind: MachineConfig, with variant: as Butane does, or "
                           "with ignition: as Ignition does");
    return document;
  }
  StoreResult(ignition::Parse(std::move(value), document.report), document);
  CheckAsMachineConfig(document);
  return document;
}

// Warns about numbers that are probably not the intended modes.
template <typename T>
void WarnAboutModes(const std::vector<T>& things, const std::string& list, json::Report& report) {
  const json::Path root;
  for (std::size_t i = 0; i < things.size(); ++i) {
    const auto mode = things[i].mode;
    const auto meant = mode ? ignition::MeantInOctal(*mode) : std::nullopt;
    if (!meant) continue;
    report.Warning(
        json::Path(root, fmt::format("{}.{}.mode", list, i)),
        fmt::format("is {:#o} in octal: did you mean {:#o}, which is {} in decimal?", *mode, *meant, *meant));
  }
}

void WarnAboutModes(ConfigDocument& document) {
  if (!document.config || document.kind == kButane) return;  // ReadButane() has warned already.
  const std::string storage = document.kind == kIgnition ? "storage" : "spec.config.storage";
  WarnAboutModes(document.config->storage.files, storage + ".files", document.report);
  WarnAboutModes(document.config->storage.directories, storage + ".directories", document.report);
}

void CheckAndWarn(ConfigDocument& document) {
  CheckMachineAccepts(document);
  WarnAboutModes(document);
}

// Returns the documents in a text, or nullopt if the text has to be parsed as one Ignition config, possibly gzipped.
// Returns nullopt for broken JSON, too, because Ignition's parser then reports the error.
Result<std::optional<std::vector<json::Value>>> ConfigDocumentsIn(const std::string& path, const std::string& text,
                                                                  json::Report& report) {
  using Documents = std::optional<std::vector<json::Value>>;
  const bool has_yaml_name = HasYamlName(path) && !ignition::IsGzip(text);
  if (!BeginsLikeJson(text)) {
    if (!has_yaml_name && !LooksLikeYaml(text)) return Documents();
    return Documents(TRY(ParseYaml(text, &report)));
  }
  json::Report json_report;
  auto value = json::Parse(text, &json_report);
  if (value && !IsButaneOrHasKind(*value)) return Documents();
  if (value && !ignition::IsButane(*value)) {
    report = std::move(json_report);
    Documents documents(std::in_place);
    documents->push_back(*std::move(value));
    return documents;
  }
  auto documents = ParseYaml(text, &report);
  if (documents && (has_yaml_name || std::all_of(documents->begin(), documents->end(), IsButaneOrHasKind))) {
    return Documents(*std::move(documents));
  }
  if (!documents && has_yaml_name) return std::move(documents).error();
  report = json::Report();
  return Documents();
}

}  // namespace

Result<api::MachineConfig> ToMachineConfig(ConfigDocument document) {
  if (document.error) return *std::move(document.error);
  api::MachineConfig object = document.object ? *std::move(document.object) : api::MachineConfig();
  if (document.kind == api::MachineConfig::kKind || !document.config) return object;
  object.api_version = api::kMachineConfigApiVersion;
  object.kind = api::MachineConfig::kKind;
  object.spec.config = TRY(ignition::ConvertTo(*std::move(document.config), document.version));
  return object;
}

Result<> ExpectNameAndRole(const api::MachineConfig& config) {
  if (!config.metadata.name.empty() && config.metadata.labels.contains(std::string(api::kRoleLabel))) return {};
  return Error(ErrorKind::kInvalid,
               fmt::format("a MachineConfig needs a name and the label {}: write Butane with `variant: openshift` and "
                           "both in its `metadata`, or put the Ignition config below spec.config of a MachineConfig",
                           api::kRoleLabel));
}

Result<ConfigFile> ReadConfigFile(const std::string& path, Accepts accepts, std::size_t limit) {
  ConfigFile file;
  file.text = TRY(ReadInput(path, accepts, limit));
  file.size = file.text.size();
  const auto empty = [&] { return Error(ErrorKind::kInvalid, path + " is empty: a config is needed"); };
  if (IsAllBlank(file.text)) return empty();
  auto values = TRY(ConfigDocumentsIn(path, file.text, file.report), "reading " + path);
  if (values) {
    if (values->empty()) return empty();
    TRY(ForEachObject(*std::move(values), [&](json::Value value) -> Result<> {
      CheckAndWarn(file.documents.emplace_back(ReadDocument(std::move(value))));
      return {};
    }));
    // Problems cannot be located in the whole text, because their paths begin at a document.
    file.text.clear();
    return file;
  }
  ConfigDocument& document = file.documents.emplace_back();
  document.kind = kIgnition;
  StoreResult(ignition::ParseWithLimit(limit, file.text, document.report), document);
  CheckAsMachineConfig(document);
  CheckAndWarn(document);
  return file;
}

}  // namespace pintle::machineconfig
