// SPDX-License-Identifier: Apache-2.0
#pragma once

// Finds the inverse of a step.

#include <optional>
#include <string>
#include <unordered_set>

#include "base/result.h"
#include "host/host.h"
#include "plan/step.h"

namespace pintle::change {

// Returns the step that puts back what is there now, or nullopt if that is as wanted already.  It must not be called
// for entries of the file tree, since their contents have to be stored.  Units in `changed_units` do not count as
// wanted just because they are enabled: their [Install] sections, or the presets, may have changed.
Result<std::optional<plan::Step>> InverseOf(const host::Host& host, const plan::Step& step,
                                            const std::unordered_set<std::string>& changed_units);

}  // namespace pintle::change
