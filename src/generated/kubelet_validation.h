// SPDX-License-Identifier: Apache-2.0
#pragma once

// Validates KubeletConfigs.

#include "api/kubelet_config.h"
#include "api/machine_config_pool.h"
#include "base/result.h"
#include "generated/kubelet_configuration.h"

namespace pintle::generated {

// Returns the first problem of an object that does not depend on a pool.
Result<> Validate(const api::KubeletConfig& object);

// Returns an error if the object would change the folder of static pods on the nodes of this pool.  The control plane
// runs from static pods, and other nodes need none.
Result<> ValidateForPool(const api::MachineConfigPool& pool, const api::KubeletConfig& object);

// Decodes the kubelet's configuration in the object.  If the object has none, the result is empty.
Result<KubeletConfiguration> KubeletConfigurationIn(const api::KubeletConfig& object);

}  // namespace pintle::generated
