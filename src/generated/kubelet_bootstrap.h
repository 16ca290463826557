// SPDX-License-Identifier: Apache-2.0
#pragma once

// The configs of kubelets while a cluster is installed: from manifests, before anything has an identity, and all at
// once.  The first error ends it.

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

// The configs that are made from templates for a pool of this name.
using TemplatesFor = std::function<Result<std::vector<MachineConfig>>(const std::string& pool)>;

// Each pool gets kernel arguments here, also those that no controller gives any later.
Result<std::vector<MachineConfig>> BootstrapNodeConfigs(std::span<const api::MachineConfigPool> pools,
                                                        const TemplatesFor& templates_for,
                                                        const KubeletSettings& settings);

Result<std::vector<MachineConfig>> BootstrapFeatureConfigs(std::span<const api::MachineConfigPool> pools,
                                                           const TemplatesFor& templates_for,
                                                           const KubeletSettings& settings);

// All objects are validated before any of them becomes a config, and a pool may have one of them only.
Result<std::vector<MachineConfig>> BootstrapKubeletConfigs(std::span<const api::KubeletConfig> objects,
                                                           std::span<const api::MachineConfigPool> pools,
                                                           const TemplatesFor& templates_for,
                                                           const KubeletSettings& settings);

}  // namespace pintle::generated
