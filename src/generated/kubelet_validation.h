// SPDX-License-Identifier: Apache-2.0
#pragma once

// What a KubeletConfig may not say.

#include "api/kubelet_config.h"
#include "api/machine_config_pool.h"
#include "base/result.h"
#include "generated/kubelet_configuration.h"

namespace pintle::generated {

// The first thing that is wrong with it, whatever pool it is for.
Result<> Validate(const api::KubeletConfig& object);

// What is wrong with it for this pool.  The kubelets of the control plane run it from static pods, and others need
// none: both have to keep the folder that the templates say.
Result<> ValidateFor(const api::MachineConfigPool& pool, const api::KubeletConfig& object);

// The configuration that it has inside; an empty one for none.
Result<KubeletConfiguration> ConfigurationIn(const api::KubeletConfig& object);

}  // namespace pintle::generated
