// SPDX-License-Identifier: Apache-2.0
#pragma once

// Decides what is written for the CRIOCredentialProviderConfig: for each built-in pool a config whose name begins with
// 97-, and the status.

#include "controller/generate_changes.h"
#include "controller/generate_inputs.h"
#include "generated/pool_templates.h"

namespace pintle::controller {

void CredentialProviderPass(const GenerateInputs& inputs, generated::PoolTemplates& templates,
                            GenerateChanges& changes);

}  // namespace pintle::controller
