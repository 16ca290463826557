// SPDX-License-Identifier: Apache-2.0
#pragma once

// Decides which MachineConfigs are generated, as a pure function from the cluster and the templates to the writes.
//
// Each kind of source has a pass of its own, and an error in one of them does not stop the other passes.  Nothing is
// generated while there is no ControllerConfig, or while a setting that several passes use cannot be read.  While the
// feature gates have an error, only the configs of the templates are generated.

#include "controller/generate_changes.h"
#include "controller/generate_inputs.h"

namespace pintle::controller {

GenerateChanges GeneratePass(const GenerateInputs& inputs);

}  // namespace pintle::controller
