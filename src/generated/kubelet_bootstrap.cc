// SPDX-License-Identifier: Apache-2.0
#include "generated/kubelet_bootstrap.h"

#include <fmt/core.h>

#include <set>
#include <utility>

#include "generated/kubelet_configs.h"
#include "generated/kubelet_validation.h"
#include "generated/managed_names.h"
#include "generated/pool_selection.h"

namespace pintle::generated {
namespace {

// Converts a config to the form that bootstrap writes: with empty structs, and with an owner that has no name.
Result<MachineConfig> ForInstallation(MachineConfig config) {
  json::Report report;
  const ignition::Config parsed = TRY(ignition::Parse(config.config, report), "reading the config that was made");
  config.config = ConfigText(parsed, ignition::EmptyStructs::kWritten);
  config.owner_references = {OwnedAtBootstrap(api::kMachineConfigApiVersion, api::KubeletConfig::kKind)};
  return config;
}

Error MultipleKubeletConfigs(std::string_view pool) {
  return Error(ErrorKind::kInvalid, fmt::format("error found multiple KubeletConfigs targeting MachineConfigPool {}. "
                                                "Please apply only one KubeletConfig manifest for each pool during "
                                                "installation",
                                                pool));
}

}  // namespace

Result<std::vector<MachineConfig>> BootstrapNodeConfigs(std::span<const api::MachineConfigPool> pools,
                                                        const TemplatesFor& templates_for,
                                                        const KubeletSettings& settings) {
  std::vector<MachineConfig> configs;
  for (const api::MachineConfigPool& pool : pools) {
    const std::string& name = pool.metadata.name;
    MachineConfig config = TRY(NodeConfig(name, TRY(templates_for(name), kKubeletTemplatesFailed), settings));
    config.kernel_arguments = TRY(ControlGroupArguments(settings.cgroup_mode));
    configs.push_back(std::move(config));
  }
  return configs;
}

Result<std::vector<MachineConfig>> BootstrapFeatureConfigs(std::span<const api::MachineConfigPool> pools,
                                                           const TemplatesFor& templates_for,
                                                           const KubeletSettings& settings) {
  std::vector<MachineConfig> configs;
  for (const api::MachineConfigPool& pool : pools) {
    const std::string& name = pool.metadata.name;
    configs.push_back(TRY(FeatureConfig(name, TRY(templates_for(name), kKubeletTemplatesFailed), settings)));
  }
  return configs;
}

Result<std::vector<MachineConfig>> BootstrapKubeletConfigs(std::span<const api::KubeletConfig> objects,
                                                           std::span<const api::MachineConfigPool> pools,
                                                           const TemplatesFor& templates_for,
                                                           const KubeletSettings& settings) {
  for (const api::KubeletConfig& object : objects) TRY(Validate(object));
  std::vector<MachineConfig> configs;
  std::set<std::string> selected_pools;
  for (const api::KubeletConfig& object : objects) {
    for (const api::MachineConfigPool& pool : pools) {
      if (!TRY(IsSelected(pool, object.spec.machine_config_pool_selector))) continue;
      const std::string& role = pool.metadata.name;
      MachineConfig config = TRY(UserKubeletConfig(
          object, pool, PlainName(ManagedKind::kKubelet, role),
          TRY(PoolKubeletBase(role, TRY(templates_for(role), kKubeletTemplatesFailed), settings)), settings));
      if (!selected_pools.insert(role).second) return MultipleKubeletConfigs(role);
      configs.push_back(TRY(ForInstallation(std::move(config))));
    }
  }
  return configs;
}

}  // namespace pintle::generated
