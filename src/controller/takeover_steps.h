// SPDX-License-Identifier: Apache-2.0
#pragma once

// Lists the changes that hand a cluster over from the Machine Config Operator to Pintle, and the changes that hand the
// cluster back.
//
// The steps are decided from what is in the cluster, each time anew.  So they can be run again after they were cut
// short, and a step counts as done if somebody else has made it.  docs/takeover.md has the reasons for their order.

#include <vector>

#include "base/clock.h"
#include "controller/takeover_state.h"

namespace pintle::controller {

// Return all steps in their order.  Only the write of the first step that is not done may be made.  The very first step
// is about the record, without which no other step may be made.  StepsToUndo() returns no steps if there was no
// takeover.
std::vector<TakeoverStep> StepsToTakeOver(const TakeoverState& state, const TakeoverSettings& settings, WallTime now);
std::vector<TakeoverStep> StepsToUndo(const TakeoverState& state, const TakeoverSettings& settings, WallTime now);

// Returns the first step that is not done, or nullptr.
const TakeoverStep* NextOf(const std::vector<TakeoverStep>& steps);

// Returns whether a takeover has begun and has taken a lease or a replica from the operator.  Before that, the operator
// still acts, and it can change anything that was checked.
bool HasTakenAnything(const TakeoverState& state, const TakeoverSettings& settings);
// Returns whether the nodes have to be read, because agents may have nodes or will get them.
bool AreNodesNeeded(const TakeoverState& state, const TakeoverSettings& settings);
// Returns whether TakeoverState::annotated has to be read, because undo removes annotations and conditions.
bool AreAnnotationsNeeded(const TakeoverState& state);

}  // namespace pintle::controller
