// SPDX-License-Identifier: Apache-2.0
#pragma once

// Decides what is written for KubeletConfigs: finalizers, statuses, and configs whose names begin with 99-.

#include "controller/generate_changes.h"
#include "controller/generate_inputs.h"
#include "generated/kubelet_base.h"
#include "generated/pool_templates.h"

namespace pintle::controller {

// Cleans up after KubeletConfigs that are being deleted; KubeletPass() leaves them alone.
void CleanUpKubeletConfigs(const GenerateInputs& inputs, GenerateChanges& changes);

void KubeletPass(const GenerateInputs& inputs, generated::PoolTemplates& templates,
                 const generated::KubeletSettings& settings, GenerateChanges& changes);

}  // namespace pintle::controller
