// SPDX-License-Identifier: Apache-2.0
#pragma once

// Validates ContainerRuntimeConfigs, and makes files and MachineConfigs from them.

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

// Additional stores are used if the feature gate AdditionalStorageConfig is open.  While it is closed, they are
// validated but not used.
enum class AdditionalStores { kUnused, kUsed };

// Returns the first problem of an object.  If the first problem is the path of a store, the error lists all invalid
// paths of stores.  The error has the words of the Machine Config Operator, unless spec.containerRuntimeConfig is
// missing.
Result<> CheckContainerRuntimeConfig(const api::ContainerRuntimeConfig& config);

struct RuntimeFiles {
  std::vector<NewFile> files;
  // The reason why storage.conf could not be made, or "".  The other files are made in any case.
  std::string storage_problem;
};

// Makes the files for the nodes of a pool.  `config` must be valid.
RuntimeFiles FilesOf(const api::ContainerRuntimeConfiguration& config, std::string_view storage_template,
                     AdditionalStores stores);

// Makes the config for a pool in a running cluster.
MachineConfig RuntimeConfig(std::string name, const api::MachineConfigPool& pool, const std::vector<NewFile>& files,
                            const api::ContainerRuntimeConfig& owner, std::string_view controller_version);

// A pool and the templates of its role.
struct PoolWithTemplates {
  const api::MachineConfigPool* pool;
  const RuntimeTemplates* templates;
};
struct RuntimeConfigs {
  std::vector<MachineConfig> configs;
  std::vector<std::string> complaints;  // Messages about files that could not be made.
};
// Makes the configs for the installation of a cluster.  It is an error if two ContainerRuntimeConfigs select the same
// pool.
Result<RuntimeConfigs> RuntimeConfigsAtBootstrap(std::span<const api::ContainerRuntimeConfig> configs,
                                                 std::span<const PoolWithTemplates> pools, AdditionalStores stores,
                                                 std::string_view controller_version);

}  // namespace pintle::generated
