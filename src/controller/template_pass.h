// SPDX-License-Identifier: Apache-2.0
#pragma once

// Decides what is written for the ControllerConfig: the configs that are made from templates, and its status.
//
// For a new generation of the ControllerConfig, the status first reports that the configs are being made, and later
// that they are complete.  Pools are not rendered in between.

#include "controller/generate_changes.h"
#include "controller/generate_inputs.h"

namespace pintle::controller {

void TemplatePass(const GenerateInputs& inputs, GenerateChanges& changes);

}  // namespace pintle::controller
