// SPDX-License-Identifier: Apache-2.0
#pragma once

// The MachineConfigs that set up the kubelets of a pool.
//
// All three have a whole kubelet.conf, so that the last one in the order of names has the last word: 97-, of the
// settings of all nodes, with the kernel arguments for their control groups; 98-, of the features of the release; and
// 99-, of KubeletConfigs, where there are any.

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

// 97-worker-generated-kubelet
std::string NodeConfigName(std::string_view pool);
// 98-worker-generated-kubelet
std::string FeatureConfigName(std::string_view pool);

// Whether a config of the cluster is one of these, so that it goes away when another build of the controller has made
// it.  `number` is what its name begins with: "97", "98" or "99".
bool IsStale(const api::ObjectMeta& config, std::string_view number, std::string_view controller_version);

// The kernel arguments for control groups: of `arguments`, those that say otherwise are left out, and those that are
// missing come last.
Result<std::vector<std::string>> ControlGroupArguments(std::string_view cgroup_mode,
                                                       std::vector<std::string> arguments = {});

// `templates` are always the configs that were made from templates for this pool.

// What a KubeletConfig is laid over: the configuration of the templates with features and latency.  A latency that
// nobody knows is passed over, since the config of the settings of all nodes is the one to stop at it.
Result<KubeletConfiguration> PoolBase(std::string_view pool, std::span<const MachineConfig> templates,
                                      const KubeletSettings& settings);

// `arguments` are the kernel arguments that the config has already.  In a cluster, only nodes of the three pools that
// the operator makes itself get any.
Result<MachineConfig> NodeConfig(std::string_view pool, std::span<const MachineConfig> templates,
                                 const KubeletSettings& settings, std::vector<std::string> arguments = {});

Result<MachineConfig> FeatureConfig(std::string_view pool, std::span<const MachineConfig> templates,
                                    const KubeletSettings& settings);

// Of a KubeletConfig that is valid, for a pool that it selects.  `name` is one of NameFor(), `base` that of PoolBase().
Result<MachineConfig> UserKubeletConfig(const api::KubeletConfig& object, const api::MachineConfigPool& pool,
                                        std::string name, KubeletConfiguration base, const KubeletSettings& settings);

// Whether it selects this pool; one that says nothing of pools selects none.
Result<bool> Selects(const api::KubeletConfig& object, const api::MachineConfigPool& pool);

}  // namespace pintle::generated
