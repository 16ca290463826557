// SPDX-License-Identifier: Apache-2.0
#pragma once

// Makes the MachineConfigs that configure the kubelets of a pool.
//
// Each of these MachineConfigs has a complete kubelet.conf, so the last one by name wins.  The config whose name begins
// with 97- has the settings of all nodes, and kernel arguments for control groups.  The config whose name begins with
// 98- has the feature gates of the release.  If there are KubeletConfigs, configs whose names begin with 99- are made
// from them.

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "api/kubelet_config.h"
#include "api/machine_config_pool.h"
#include "base/result.h"
#include "generated/kubelet_base.h"
#include "generated/machine_config.h"

namespace pintle::generated {

// Returns a name such as 97-worker-generated-kubelet.
std::string NodeConfigName(std::string_view pool);

// Returns `arguments` with the kernel arguments for version 2 of control groups at the end, and without those for
// version 1.  It is an error if `cgroup_mode` is neither empty nor "v2".
Result<std::vector<std::string>> ControlGroupArguments(std::string_view cgroup_mode,
                                                       std::vector<std::string> arguments = {});

// In the functions below, `templates` are the configs that were made from the templates of the pool.

// Returns the configuration that a KubeletConfig is merged over: the templates' kubelet.conf with the feature gates and
// the latency profile.  Ignores an unknown latency profile, because NodeConfig() reports it.
Result<KubeletConfiguration> PoolKubeletBase(std::string_view pool, std::span<const MachineConfig> templates,
                                             const KubeletSettings& settings);

// Makes the config whose name begins with 97-.  `arguments` are the kernel arguments that the config has already.  Only
// the pools master, worker and arbiter get kernel arguments.
Result<MachineConfig> NodeConfig(std::string_view pool, std::span<const MachineConfig> templates,
                                 const KubeletSettings& settings, std::vector<std::string> arguments = {});

// Makes the config whose name begins with 98-.
Result<MachineConfig> FeatureConfig(std::string_view pool, std::span<const MachineConfig> templates,
                                    const KubeletSettings& settings);

// Makes the config of a valid KubeletConfig for a pool that it selects.  `name` comes from NameFor(), or at bootstrap
// from PlainName().  `base` comes from PoolKubeletBase().
Result<MachineConfig> UserKubeletConfig(const api::KubeletConfig& object, const api::MachineConfigPool& pool,
                                        std::string name, KubeletConfiguration base, const KubeletSettings& settings);

}  // namespace pintle::generated
