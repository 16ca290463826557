// SPDX-License-Identifier: Apache-2.0
#pragma once

// Decides what is written for the ControllerConfig: the configs that templates make, and its status.
//
// The status first reports that a new generation is being worked on, and later that it is complete.  Pools are not
// rendered in between.

#include "controller/generate_changes.h"
#include "controller/generate_inputs.h"

namespace pintle::controller {

void TemplatePass(const GenerateInputs& inputs, GenerateChanges& changes);

}  // namespace pintle::controller
