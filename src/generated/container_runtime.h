// SPDX-License-Identifier: Apache-2.0
#pragma once

// ContainerRuntimeConfigs: what they may say, and which files they make.

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

// Whether the feature gate AdditionalStorageConfig is open.  While it is not, additional stores are checked, and left
// aside.
enum class AdditionalStores { kLeftAside, kUsed };

// In the words of the Machine Config Operator; the first that is wrong, but all paths of stores at once.
Result<> CheckContainerRuntimeConfig(const api::ContainerRuntimeConfig& config);

struct RuntimeFiles {
  std::vector<NewFile> files;
  // Why storage.conf is not among them although it should be.  The others are made all the same.
  std::string storage_problem;
};

// Of one that was checked.
RuntimeFiles FilesOf(const api::ContainerRuntimeConfiguration& config, std::string_view storage_template,
                     AdditionalStores stores);

// Whether a config is for this pool.  One that has no selector, or an empty one, is for none.
Result<bool> IsFor(const api::ContainerRuntimeConfig& config, const api::MachineConfigPool& pool);

// The config for a pool, as the cluster's controller makes it.
MachineConfig RuntimeConfig(std::string name, const api::MachineConfigPool& pool, const std::vector<NewFile>& files,
                            const api::ContainerRuntimeConfig& owner, std::string_view controller_version);

// Whether a config of the cluster is one of these and was made by another build of the controller, so that it goes
// away.
bool IsStaleRuntimeConfig(const api::ObjectMeta& config, std::string_view controller_version);

// What bootstrap makes of all that it finds, in that order; there can be one for each pool.  `template_of` are the
// templates of each pool's role.
struct PoolWithTemplates {
  const api::MachineConfigPool* pool;
  const RuntimeTemplates* templates;
};
Result<std::vector<MachineConfig>> RuntimeConfigsAtBootstrap(std::span<const api::ContainerRuntimeConfig> configs,
                                                             std::span<const PoolWithTemplates> pools,
                                                             AdditionalStores stores,
                                                             std::string_view controller_version);

}  // namespace pintle::generated
