// SPDX-License-Identifier: Apache-2.0
#pragma once

// The override in the ClusterVersion that lets a takeover scale the Machine Config Operator down: without the override,
// the cluster's version operator would start the Machine Config Operator again.

#include <string>

#include "controller/takeover_state.h"
#include "json/value.h"

namespace pintle::controller {

// Adds the override.
TakeoverStep OverridesStep(const TakeoverState& state, const TakeoverSettings& settings);
// Removes the override.  `before` are the overrides in the record.
TakeoverStep OverridesBackStep(const TakeoverState& state, const TakeoverSettings& settings, const json::Value& before);

// Returns the overrides without that of a takeover, or null if there are no others.
json::Value OtherOverrides(const json::Value& overrides, const TakeoverSettings& settings);

// Returns a notice if the ClusterVersion has an override for the operator's Deployment although there is no record of a
// takeover, and "" otherwise.  Undo leaves this override alone, because others may have made it.
std::string NoticeOfOverride(const TakeoverState& state, const TakeoverSettings& settings);

}  // namespace pintle::controller
