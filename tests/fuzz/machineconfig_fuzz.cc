// SPDX-License-Identifier: Apache-2.0

// Machine configs in YAML are rendered together.  The rendered config has the name that follows from its own hash
// input, and GoJsonLength() returns the length of its JSON.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>
#include <utility>
#include <vector>

#include "json/go_json.h"
#include "machineconfig/go_json.h"
#include "machineconfig/objects.h"
#include "machineconfig/render.h"
#include "machineconfig/rendered_name.h"
#include "machineconfig/yaml.h"

namespace pintle {
namespace {

Result<std::vector<api::MachineConfig>> Read(std::string_view text) {
  std::vector<api::MachineConfig> configs;
  TRY(machineconfig::ForEachObject(TRY(machineconfig::ParseYaml(text)), [&](json::Value object) -> Result<> {
    configs.push_back(TRY(machineconfig::ReadMachineConfig(std::move(object))));
    configs.back().metadata.labels.emplace("machineconfiguration.openshift.io/role", "worker");
    return {};
  }));
  return configs;
}

void Try(std::string_view text) {
  const auto configs = Read(text);
  if (!configs) return;
  machineconfig::MachineConfigs pointers;
  for (const api::MachineConfig& config : *configs) pointers.push_back(&config);
  api::MachineConfigPool pool;
  pool.metadata.name = "p";
  api::ControllerConfig controller_config;
  controller_config.metadata.annotations[std::string(api::kGeneratedByVersionAnnotation)] = "1";
  const machineconfig::RenderSettings settings{.controller_config = controller_config, .controller_version = "1"};
  const auto rendered = machineconfig::Render(pool, pointers, settings);
  if (!rendered) {
    if (rendered.error().message().empty()) std::abort();
    return;
  }
  const auto name = machineconfig::RenderedName("p", rendered->config.spec);
  if (!name || *name != rendered->config.metadata.name) std::abort();
  const std::size_t length = machineconfig::GoJsonLength(rendered->config);
  if (length != json::GoJson(machineconfig::ToDocument(rendered->config)).size()) std::abort();
}

}  // namespace
}  // namespace pintle

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  pintle::Try(std::string_view(reinterpret_cast<const char*>(data), size));
  return 0;
}
