// SPDX-License-Identifier: Apache-2.0
#pragma once

// Decides what is written for the ControllerConfig: the configs that templates make, and its status.
//
// The status is first that of a new generation that is being worked on, then that of a complete one.  Pools are not
// rendered in between.

#include "controller/generate_changes.h"
#include "controller/generate_inputs.h"

namespace pintle::controller {

void TemplatePass(const GenerateInputs& inputs, GenerateChanges& changes);

}  // namespace pintle::controller
