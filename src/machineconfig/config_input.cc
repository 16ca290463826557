// SPDX-License-Identifier: Apache-2.0
#include "machineconfig/config_input.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "ignition/butane.h"
#include "ignition/compression.h"
#include "ignition/parse_up_to.h"
#include "machineconfig/objects.h"
#include "machineconfig/own_files.h"
#include "machineconfig/sizes.h"
#include "machineconfig/validate.h"
#include "machineconfig/yaml.h"

namespace pintle::machineconfig {
namespace {

bool HasYamlName(std::string_view path) {
  constexpr std::array kEndings = {".yaml", ".yml", ".bu", ".butane"};
  return std::any_of(kEndings.begin(), kEndings.end(), [&](const char* ending) { return path.ends_with(ending); });
}

// Base64 has no colon, and YAML without one is no config.
bool LooksLikeYaml(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos || text[first] == '{' || ignition::IsGzip(text)) return false;
  return text.find(':') != std::string_view::npos;
}

bool IsYaml(const std::string& path, std::string_view text) {
  return path == "-" ? LooksLikeYaml(text) : HasYamlName(path);
}

template <typename T>
void Keep(Result<T> result, ConfigDocument& document) {
  if (result) {
    document.config = *std::move(result);
  } else {
    document.error = std::move(result).error();
  }
}

// What a MachineConfig with this config would be refused for.
void CheckValid(ConfigDocument& document) {
  if (!document.config) return;
  if (const auto valid = CheckIgnition(*document.config); !valid) document.unfit = valid.error();
}

// What a machine would refuse of any config.
void CheckFit(ConfigDocument& document) {
  if (!document.config || document.unfit) return;
  if (const auto fit = CheckOwnFiles(*document.config); !fit) {
    document.unfit = fit.error();
  } else if (const auto sized = CheckSizes(*document.config); !sized) {
    document.unfit = sized.error();
  }
}

ConfigDocument MachineConfigDocument(json::Value value) {
  ConfigDocument document;
  document.kind = api::MachineConfig::kKind;
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

// What stands in its header and beside its Ignition part.
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

ConfigDocument ButaneDocument(json::Value value) {
  ConfigDocument document;
  document.kind = "Butane";
  auto butane = ignition::ReadButane(std::move(value), document.report);
  if (butane) {
    document.object = ObjectOf(*butane);
    document.config = std::move(butane->config);
  } else {
    document.error = std::move(butane).error();
  }
  return document;
}

bool IsObject(const json::Value& value) {
  return value.is_object() && (ignition::IsButane(value) || value.contains("kind"));
}

ConfigDocument ReadDocument(json::Value value) {
  if (ignition::IsButane(value)) return ButaneDocument(std::move(value));
  if (IsObject(value)) return MachineConfigDocument(std::move(value));
  ConfigDocument document;
  document.kind = "Ignition";
  Keep(ignition::Parse(std::move(value), document.report), document);
  CheckValid(document);
  return document;
}

void AddDocument(json::Value value, ConfigFile& file) {
  CheckFit(file.documents.emplace_back(ReadDocument(std::move(value))));
}

}  // namespace

Result<ConfigFile> ReadConfigFile(const std::string& path, Accepts accepts, std::size_t limit) {
  ConfigFile file;
  file.text = TRY(ReadInput(path, accepts, limit));
  file.size = file.text.size();
  json::Report report;
  if (IsYaml(path, file.text)) {
    std::vector<json::Value> values = TRY(ParseYaml(file.text, &report), "reading " + path);
    if (values.empty()) return Error(ErrorKind::kInvalid, path + " is empty: a config is needed");
    file.report = std::move(report);
    TRY(ForEachObject(std::move(values), [&](json::Value value) -> Result<> {
      AddDocument(std::move(value), file);
      return {};
    }));
    file.text.clear();
    return file;
  }
  if (auto value = json::Parse(file.text, &report); value && IsObject(*value)) {
    file.report = std::move(report);
    TRY(ForEachObject({*std::move(value)}, [&](json::Value object) -> Result<> {
      AddDocument(std::move(object), file);
      return {};
    }));
    file.text.clear();  // The paths are not those of the whole file.
    return file;
  }
  ConfigDocument& document = file.documents.emplace_back();
  document.kind = "Ignition";
  Keep(ignition::ParseUpTo(limit, file.text, document.report), document);
  CheckValid(document);
  CheckFit(document);
  return file;
}

}  // namespace pintle::machineconfig
