// SPDX-License-Identifier: Apache-2.0
#pragma once

// Makes the configs of kubelets while a cluster is installed, from manifests.  The objects have no UID yet, and the
// first error ends the installation.

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "api/kubelet_config.h"
#include "api/machine_config_pool.h"
#include "base/result.h"
#include "generated/kubelet_base.h"
#include "generated/machine_config.h"

namespace pintle::generated {

// A function that returns the configs that templates make for a pool of this name.
using TemplatesFor = std::function<Result<std::vector<MachineConfig>>(const std::string& pool)>;

// Makes the configs whose names begin with 97- (kubelet_configs.h).  At bootstrap, every pool gets kernel arguments.
// The controller gives them only to master, worker and arbiter.
Result<std::vector<MachineConfig>> BootstrapNodeConfigs(std::span<const api::MachineConfigPool> pools,
                                                        const TemplatesFor& templates_for,
                                                        const KubeletSettings& settings);

// Makes the configs whose names begin with 98-.
Result<std::vector<MachineConfig>> BootstrapFeatureConfigs(std::span<const api::MachineConfigPool> pools,
                                                           const TemplatesFor& templates_for,
                                                           const KubeletSettings& settings);

// Makes the configs of KubeletConfigs, and validates all objects first.  It is an error if two KubeletConfigs select
// the same pool.
Result<std::vector<MachineConfig>> BootstrapKubeletConfigs(std::span<const api::KubeletConfig> objects,
                                                           std::span<const api::MachineConfigPool> pools,
                                                           const TemplatesFor& templates_for,
                                                           const KubeletSettings& settings);

}  // namespace pintle::generated
