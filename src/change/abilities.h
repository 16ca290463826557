// SPDX-License-Identifier: Apache-2.0
#pragma once

// What of a machine can be changed at all.

#include "base/result.h"
#include "host/host.h"
#include "plan/difference.h"

namespace pintle::change {

// Whether the OS itself is to change, and not just files.
bool ChangesOs(const plan::Difference& difference);

// Names what a change needs and this machine cannot do.
Result<> CheckAbleTo(const host::Host& host, const plan::Difference& difference);

}  // namespace pintle::change
