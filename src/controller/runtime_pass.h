// SPDX-License-Identifier: Apache-2.0
#pragma once

// Decides what is written for ContainerRuntimeConfigs: finalizers, statuses, and configs whose names begin with 99-.

#include "controller/generate_changes.h"
#include "controller/generate_inputs.h"
#include "generated/container_runtime.h"
#include "generated/pool_templates.h"

namespace pintle::controller {

// Cleans up after ContainerRuntimeConfigs that are being deleted; RuntimePass() leaves them alone.
void CleanUpRuntimeConfigs(const GenerateInputs& inputs, GenerateChanges& changes);

void RuntimePass(const GenerateInputs& inputs, generated::PoolTemplates& templates, generated::AdditionalStores stores,
                 GenerateChanges& changes);

}  // namespace pintle::controller
