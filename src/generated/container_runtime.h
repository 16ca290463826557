// SPDX-License-Identifier: Apache-2.0
#pragma once

// Validates ContainerRuntimeConfigs, and makes the files and MachineConfigs that they stand for.

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "api/container_runtime_config.h"
#include "api/machine_config_pool.h"
#include "base/result.h"
#include "generated/machine_config.h"
#include "generated/runtime_templates.h"

namespace pintle::generated {

// Whether the feature gate AdditionalStorageConfig is open.  While it is closed, additional stores are validated but
// not used.
enum class AdditionalStores { kLeftAside, kUsed };

// The error has the words of the Machine Config Operator.  It names the first problem, but all wrong paths of stores.
Result<> CheckContainerRuntimeConfig(const api::ContainerRuntimeConfig& config);

struct RuntimeFiles {
  std::vector<NewFile> files;
  // Why storage.conf could not be made.  The other files are made all the same.
  std::string storage_problem;
};

// `config` must have been checked.
RuntimeFiles FilesOf(const api::ContainerRuntimeConfiguration& config, std::string_view storage_template,
                     AdditionalStores stores);

// Makes the config for a pool in a running cluster.
MachineConfig RuntimeConfig(std::string name, const api::MachineConfigPool& pool, const std::vector<NewFile>& files,
                            const api::ContainerRuntimeConfig& owner, std::string_view controller_version);

// Makes the configs for a cluster that is being installed.  A pool can have one ContainerRuntimeConfig there.  Each
// pool comes with the templates of its role.
struct PoolWithTemplates {
  const api::MachineConfigPool* pool;
  const RuntimeTemplates* templates;
};
Result<std::vector<MachineConfig>> RuntimeConfigsAtBootstrap(std::span<const api::ContainerRuntimeConfig> configs,
                                                             std::span<const PoolWithTemplates> pools,
                                                             AdditionalStores stores,
                                                             std::string_view controller_version);

}  // namespace pintle::generated
