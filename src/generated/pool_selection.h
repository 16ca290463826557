// SPDX-License-Identifier: Apache-2.0
#pragma once

// Decides which pools a KubeletConfig or a ContainerRuntimeConfig selects, and which pools are built in.

#include <optional>

#include "api/label_selector.h"
#include "api/machine_config_pool.h"
#include "base/result.h"

namespace pintle::generated {

// Returns whether the selector of an object selects this pool.  Without a selector, or with an empty one, an object
// selects no pool, although an empty selector selects everything elsewhere in Kubernetes.
Result<bool> IsSelected(const api::MachineConfigPool& pool, const std::optional<api::LabelSelector>& selector);

// Returns whether this pool has the label of the pools that the operator itself makes.  Other pools also get the
// configs of `worker`.
bool IsBuiltInPool(const api::MachineConfigPool& pool);

}  // namespace pintle::generated
