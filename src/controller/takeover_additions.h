// SPDX-License-Identifier: Apache-2.0
#pragma once

// Removes what Pintle's controller has added to objects of the cluster: annotations, and conditions of pools.
//
// Pintle's controller must not lead any more, because it would add them again.

#include "controller/takeover_state.h"

namespace pintle::controller {

TakeoverStep AnnotationsStep(const TakeoverState& state);
TakeoverStep ConditionsStep(const TakeoverState& state);

}  // namespace pintle::controller
