// SPDX-License-Identifier: Apache-2.0
#pragma once

// The record of a takeover: a ConfigMap with the values before the takeover, from which undo restores them.
//
// The record also has the verb of the run that began last.  If two runs are made at once, the earlier run ends
// (takeover_progress.h).  A record may be lost or damaged; then undo restores what OpenShift installs.

#include <optional>
#include <string>

#include "controller/takeover_state.h"
#include "json/value.h"

namespace pintle::controller {

// Creates the record, or writes the verb of `start` into it.
TakeoverStep StartRecordStep(const TakeoverState& state, const TakeoverSettings& settings);
// Writes the verb of `undo` into the record, or writes a record with the values `before` in place of one that was lost.
TakeoverStep UndoRecordStep(const TakeoverState& state, const TakeoverSettings& settings, const json::Value& before);
TakeoverStep RecordRemovalStep(const TakeoverState& state);

// Returns the values before the takeover.  If the record is lost, returns those that OpenShift installs.  Returns
// nullopt if there was no takeover.
std::optional<json::Value> ValuesBefore(const TakeoverState& state, const TakeoverSettings& settings);
// Returns the number of Pintle's replicas in the record.  If the record has none or 0, returns the number that
// deploy/base has.
json::Value OurReplicasBefore(const TakeoverState& state);
// Returns whether the run that began last is one of `undo`.
bool IsBeingUndone(const TakeoverState& state);

// Returns why a takeover must not begin or go on, because its record is lost or damaged; "" if nothing is wrong.
std::string WhyTakeoverMustNotBegin(const TakeoverState& state, const TakeoverSettings& settings);

}  // namespace pintle::controller
