// SPDX-License-Identifier: Apache-2.0
#pragma once

// The figures for the metrics of the leading replica, from what it knows of the cluster.

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

// Whether the cluster has boot images, and the administrator has switched off the check that they are recent.
bool AllowsOldBootImages(const View& view);

// By node of a pool of masters: whether a custom pool selects it as well.
std::map<std::string, bool> AlertsOf(const Rosters& rosters);

}  // namespace pintle::controller
