// SPDX-License-Identifier: Apache-2.0
#pragma once

// Decides which MachineConfigs are generated, as a pure function from the cluster and the templates to the writes.
//
// Each kind of source has a pass of its own, and an error in one of them does not stop the others.

#include "controller/generate_changes.h"
#include "controller/generate_inputs.h"

namespace pintle::controller {

GenerateChanges GeneratePass(const GenerateInputs& inputs);

}  // namespace pintle::controller
