// SPDX-License-Identifier: Apache-2.0
#pragma once

// Hands the Ignition server over from the Machine Config Operator to Pintle, and back.
//
// Both servers listen at the same ports of the same machines, so one of them ends before the other one begins.

#include <cstdint>
#include <optional>
#include <string>

#include "controller/operator_kinds.h"
#include "controller/takeover_state.h"
#include "json/value.h"

namespace pintle::controller {

// Ends the operator's server when Pintle's server can begin in its place.
TakeoverStep ServerStep(const TakeoverState& state, const TakeoverSettings& settings);
// Waits until Pintle's Ignition server answers in each pod.
TakeoverStep ServingStep(const TakeoverState& state, const TakeoverSettings& settings);
// Lets the operator's server begin again.  `before` is its node selector in the record.
TakeoverStep ServerBackStep(const TakeoverState& state, const json::Value& before);
// Waits for the operator's server on all machines: on a machine without it, Pintle's replicas would take its ports.
TakeoverStep OperatorServesStep(const TakeoverState& state);

// Returns whether undo waits for pods of the operator's server, so that these pods have to be read.
bool AreServersAwaited(const TakeoverState& state);
// Returns whether the old server runs on no machine any more.
bool HasServerEnded(const TakeoverState& state);
// Returns why the old server has to stay: Pintle's server would not begin in its place.  Returns "" if the old server
// can end.
std::string WhyServerMustStay(const TakeoverState& state, const TakeoverSettings& settings);
// Returns the port of the Ignition server in the pods of a Deployment, or nullopt if they serve none.
std::optional<std::int64_t> IgnitionPortOf(const WholeDeployment& deployment);

}  // namespace pintle::controller
