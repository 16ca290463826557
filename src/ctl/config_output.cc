// SPDX-License-Identifier: Apache-2.0
#include "ctl/config_output.h"

#include <utility>
#include <vector>

#include "ctl/output.h"
#include "machineconfig/go_yaml.h"
#include "machineconfig/objects.h"

namespace pintle::ctl {

Result<> PrintYaml(api::MachineConfig config) {
  config.api_version = api::kMachineConfigApiVersion;
  config.kind = api::MachineConfig::kKind;
  const json::Value document = machineconfig::ToDocument(std::move(config));
  std::vector<machineconfig::GoYamlMember> members;
  for (const auto& [key, value] : document.get_ref<const json::Value::object_t&>()) members.push_back({key, &value});
  return machineconfig::WriteGoYaml(std::move(members), Print);
}

}  // namespace pintle::ctl
