// SPDX-License-Identifier: Apache-2.0
#pragma once

// The latest changes that a page has seen in its cluster.

#include <string>
#include <vector>

#include "base/clock.h"
#include "dashboard/cluster_state.h"

namespace pintle::dashboard {

struct Happening {
  WallTime at;
  std::string text;  // "worker-1: rebooting".

  bool operator==(const Happening&) const = default;
};

// Returns what is different in `after`: targets of pools, pauses, nodes that come and go, and their stages.
std::vector<std::string> DifferencesOf(const ClusterState& before, const ClusterState& after);

// Adds these texts as the newest entries, and drops the oldest entries above the limit of a timeline.
void AddTo(std::vector<Happening>& timeline, WallTime now, std::vector<std::string> texts);

}  // namespace pintle::dashboard
