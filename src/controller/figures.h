// SPDX-License-Identifier: Apache-2.0
#pragma once

// Computes the figures for the leading replica's metrics.

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "controller/metrics.h"
#include "controller/rosters.h"
#include "controller/view.h"

namespace pintle::controller {

// `pause_of` returns nullptr for a pool that has no report.
std::vector<PoolFigures> FiguresOf(const View& view, const Rosters& rosters,
                                   const std::map<std::string, bool, std::less<>>& image_overridden,
                                   const std::function<const PauseReport*(const std::string& pool)>& pause_of);

// Returns whether the cluster has boot images, and the administrator has switched off the check that they are recent.
bool AllowsOldBootImages(const View& view);

// Returns, for each node of a pool, whether it is a master that a custom pool selects as well.
std::map<std::string, bool> AlertsOf(const Rosters& rosters);

}  // namespace pintle::controller
