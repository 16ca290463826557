// SPDX-License-Identifier: Apache-2.0
#pragma once

// What puts back what a step changes.

#include <optional>
#include <string>
#include <unordered_set>

#include "base/result.h"
#include "host/host.h"
#include "plan/step.h"

namespace pintle::change {

// The step that puts back what is there now; nothing when it is as wanted already.  Entries of the file tree are not
// asked about here, since their contents must be kept.  Of units that are in `changed_units` it is not enough that they
// are enabled: their [Install] sections, or the presets, may say something else than before.
Result<std::optional<plan::Step>> InverseOf(const host::Host& host, const plan::Step& step,
                                            const std::unordered_set<std::string>& changed_units);

}  // namespace pintle::change
