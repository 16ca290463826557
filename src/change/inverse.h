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

// Returns the step that puts back the present state of a thing, or nullopt if the thing is already as `step` wants it.
// Must not be called for deployments, nor for entries of the file tree, whose contents have to be stored.  Units in
// `changed_units` always get an inverse, even if they are enabled as wanted: their [Install] sections may have changed.
Result<std::optional<plan::Step>> InverseOf(const host::Host& host, const plan::Step& step,
                                            const std::unordered_set<std::string>& changed_units);

}  // namespace pintle::change
