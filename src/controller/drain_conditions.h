// SPDX-License-Identifier: Apache-2.0
#pragma once

// The conditions about drains in a MachineConfigNode: Cordoned, Drained and Uncordoned, each with the phase of the
// update that it belongs to.
//
// Types, reasons and messages are those of the Machine Config Operator's drain controller.  The agent sets the
// conditions for the other phases of an update.

#include <optional>
#include <string_view>
#include <vector>

#include "api/meta.h"
#include "drain/protocol.h"

namespace pintle::controller {

// One moment of a drain, as two conditions.  Their transition times are not set yet.
struct DrainMoment {
  api::Condition parent;  // The phase of the update, such as UpdateExecuted.
  api::Condition child;   // The step in this phase, such as Drained.
};

// `why` is the error.  `asked` is the text of the drain that the agent has requested, and `answered` that of the
// controller's last answer.
namespace drain_moment {

DrainMoment Cordoned();
DrainMoment CordonFailed(std::string_view why, bool is_cordoned);
DrainMoment Draining(std::string_view asked, std::string_view answered);
DrainMoment DrainFailed(std::string_view why, std::string_view asked, std::string_view answered);
DrainMoment Drained(std::string_view asked);
DrainMoment Uncordoned(bool is_cordoned);
DrainMoment UncordonFailed(std::string_view why, bool is_cordoned);

}  // namespace drain_moment

// Returns `known` with the two conditions of the moment, or nullopt if `known` has both already.
std::optional<std::vector<api::Condition>> NextConditions(std::vector<api::Condition> known, const DrainMoment& moment,
                                                          api::Time now);

}  // namespace pintle::controller
