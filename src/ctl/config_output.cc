// SPDX-License-Identifier: Apache-2.0
#include "ctl/config_output.h"

#include <utility>

#include "base/output.h"
#include "machineconfig/go_yaml.h"
#include "machineconfig/objects.h"

namespace pintle::ctl {
namespace {

json::Value WithVersionAndKind(api::MachineConfig config) {
  config.api_version = api::kMachineConfigApiVersion;
  config.kind = api::MachineConfig::kKind;
  return machineconfig::ToDocument(std::move(config));
}

}  // namespace

Result<> PrintYaml(api::MachineConfig config) { return PrintYaml(WithVersionAndKind(std::move(config))); }

Result<> PrintYaml(const json::Value& document) { return machineconfig::WriteGoYamlDocument(document, Print); }

void PrintJson(api::MachineConfig config) { Print(json::ToIndentedText(WithVersionAndKind(std::move(config))) + "\n"); }

json::Value WithoutUnsetMembers(api::MachineConfig config) {
  json::Value document = machineconfig::ToDocument(std::move(config));
  auto& spec = document["spec"].members();
  std::erase_if(spec, [](const auto& member) {
    const json::Value& value = member.second;
    return value.is_null() || value == "" || value == false;
  });
  return document;
}

}  // namespace pintle::ctl
