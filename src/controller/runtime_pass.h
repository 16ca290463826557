// SPDX-License-Identifier: Apache-2.0
#pragma once

// Decides what is written for ContainerRuntimeConfigs: finalizers, statuses, and configs whose names begin with 99-.

#include "controller/generate_changes.h"
#include "controller/generate_inputs.h"
#include "generated/container_runtime.h"
#include "generated/pool_templates.h"

namespace pintle::controller {

void RuntimePass(const GenerateInputs& inputs, generated::PoolTemplates& templates, generated::AdditionalStores stores,
                 GenerateChanges& changes);

}  // namespace pintle::controller
