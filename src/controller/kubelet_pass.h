// SPDX-License-Identifier: Apache-2.0
#pragma once

// Decides what is written for KubeletConfigs: their 99- configs, names, finalizers and statuses.

#include "controller/generate_changes.h"
#include "controller/generate_inputs.h"
#include "controller/pool_templates.h"
#include "generated/kubelet_base.h"

namespace pintle::controller {

void KubeletPass(const GenerateInputs& inputs, PoolTemplates& templates, const generated::KubeletSettings& settings,
                 GenerateChanges& changes);

}  // namespace pintle::controller
