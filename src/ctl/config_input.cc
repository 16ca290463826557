// SPDX-License-Identifier: Apache-2.0
#include "ctl/config_input.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "ctl/input.h"
#include "ignition/butane.h"
#include "machineconfig/objects.h"
#include "machineconfig/validate.h"
#include "machineconfig/yaml.h"

namespace pintle::ctl {
namespace {

bool HasYamlName(std::string_view path) {
  constexpr std::array kEndings = {".yaml", ".yml", ".bu", ".butane"};
  return std::any_of(kEndings.begin(), kEndings.end(), [&](const char* ending) { return path.ends_with(ending); });
}

template <typename T>
void Keep(Result<T> result, ConfigDocument& document) {
  if (result) {
    document.config = *std::move(result);
  } else {
    document.error = std::move(result).error();
  }
}

ConfigDocument ReadMachineConfig(json::Value value) {
  ConfigDocument document{.kind = "MachineConfig", .config = {}, .report = {}, .error = {}};
  auto machine_config = machineconfig::ReadMachineConfig(std::move(value));
  if (machine_config) {
    Keep(machineconfig::Validate(*machine_config, document.report), document);
  } else {
    document.error = std::move(machine_config).error();
  }
  return document;
}

ConfigDocument ReadButane(json::Value value) {
  ConfigDocument document{.kind = "Butane", .config = {}, .report = {}, .error = {}};
  auto butane = ignition::ReadButane(std::move(value), document.report);
  if (butane) {
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
  if (ignition::IsButane(value)) return ReadButane(std::move(value));
  if (IsObject(value)) return ReadMachineConfig(std::move(value));
  ConfigDocument document{.kind = "Ignition", .config = {}, .report = {}, .error = {}};
  Keep(ignition::Parse(std::move(value), document.report), document);
  return document;
}

}  // namespace

Result<ConfigFile> ReadConfigFile(const std::string& path) {
  ConfigFile file;
  file.text = TRY(ReadInput(path));
  if (HasYamlName(path)) {
    std::vector<json::Value> values = TRY(machineconfig::ParseYaml(file.text), "reading " + path);
    TRY(machineconfig::ForEachObject(std::move(values), [&](json::Value value) -> Result<> {
      file.documents.push_back(ReadDocument(std::move(value)));
      return {};
    }));
    file.text.clear();
    return file;
  }
  if (auto value = json::Parse(file.text); value && IsObject(*value)) {
    TRY(machineconfig::ForEachObject({*std::move(value)}, [&](json::Value object) -> Result<> {
      file.documents.push_back(ReadDocument(std::move(object)));
      return {};
    }));
    file.text.clear();  // The paths are not those of the whole file.
    return file;
  }
  ConfigDocument& document = file.documents.emplace_back();
  document.kind = "Ignition";
  Keep(ignition::Parse(file.text, document.report), document);
  return file;
}

}  // namespace pintle::ctl
