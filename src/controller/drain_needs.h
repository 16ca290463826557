// SPDX-License-Identifier: Apache-2.0
#pragma once

// Decides whether a node has to be drained for its next config, with the planner that the node's agent uses.

#include <optional>
#include <set>
#include <string>

#include "controller/changes.h"
#include "controller/pause_report.h"
#include "controller/view.h"
#include "plan/plan.h"

namespace pintle::controller {

// Returns the plan by which agents go from one config to another.  Returns nullopt if `configs` lacks one of the two.
std::optional<plan::Plan> PlanBetween(const std::string& from, const std::string& to, const View& view,
                                      const WholeConfigs& configs);

// Returns the names of the configs to compare: the current and the next config of each node that is to be updated.
std::set<std::string> ConfigsOfUpdates(const Changes& changes, const View& view);

// Returns the nodes whose update needs a drain.  A drain is assumed if a config or the node is not known, or if only
// the desired image of the node changes.
std::set<std::string> NodesToDrain(const Changes& changes, const View& view, const WholeConfigs& configs);

}  // namespace pintle::controller
