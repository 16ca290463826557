// SPDX-License-Identifier: Apache-2.0
#pragma once

// Which pools a KubeletConfig or a ContainerRuntimeConfig is for, and which pools the cluster makes itself.

#include <optional>

#include "api/label_selector.h"
#include "api/machine_config_pool.h"
#include "base/result.h"

namespace pintle::generated {

// Returns whether the selector of an object selects this pool.  Without a selector, or with an empty one, an object
// selects no pool, although an empty selector selects everything elsewhere in Kubernetes.
Result<bool> IsSelected(const api::MachineConfigPool& pool, const std::optional<api::LabelSelector>& selector);

// Returns whether the cluster makes this pool itself.  Other pools also get the configs of its workers.
bool IsBuiltIn(const api::MachineConfigPool& pool);

}  // namespace pintle::generated
