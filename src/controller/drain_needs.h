// SPDX-License-Identifier: Apache-2.0
#pragma once

// Whether a node has to be drained for what it is about to be told: what its agent will find out by the same plan.

#include <set>
#include <string>

#include "api/machine_configuration.h"
#include "api/node.h"
#include "controller/changes.h"
#include "controller/pause_report.h"
#include "controller/view.h"

namespace pintle::controller {

// The configs that have to be compared for it.
std::set<std::string> ConfigsOfTold(const Changes& changes, const View& view);

// The nodes that are told something which needs a drain, as far as it is known; where it is not, they are taken to.
std::set<std::string> ThatDrain(const Changes& changes, const View& view, const WholeConfigs& configs);

}  // namespace pintle::controller
