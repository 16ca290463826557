// SPDX-License-Identifier: Apache-2.0
#pragma once

// What of a machine can be changed at all.

#include "base/result.h"
#include "plan/difference.h"

namespace pintle::change {

// Names what a change needs and this machine cannot do.
Result<> CheckAbleTo(const plan::Difference& difference);

}  // namespace pintle::change
