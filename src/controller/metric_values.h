// SPDX-License-Identifier: Apache-2.0
#pragma once

// Computes the values of the metrics that only the leading replica of the controller reports.

#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "controller/metrics.h"
#include "controller/pool_members.h"
#include "controller/view.h"

namespace pintle::controller {

// `image_overridden` is true for a pool whose OS image is set by a config other than the release's.  `pause_of` returns
// nullptr for a pool that has no report on a pause.
std::vector<PoolMetricValues> MetricValuesOf(
    const View& view, const PoolMembers& members, const std::map<std::string, bool, std::less<>>& image_overridden,
    const std::function<const PauseReport*(const std::string& pool)>& pause_of);

// Returns whether the administrator has switched off the check that boot images are recent.  Returns false for clusters
// that have no boot images: those on bare metal, and those with a single node.
bool AllowsOldBootImages(const View& view);

// Returns an entry for each node of every pool.  An entry is true if the node is a master that a custom pool selects as
// well; this raises an alert.
std::map<std::string, bool> MastersInCustomPools(const PoolMembers& members);

// Returns an entry for each task of OpenShift's operator.  An entry is true if the task has failed.
std::map<std::string, bool> OperatorTasksOf(const std::set<std::string, std::less<>>& failed);

}  // namespace pintle::controller
