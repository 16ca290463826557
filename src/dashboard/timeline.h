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
  std::string text;  // Such as "worker-1: rebooting".

  bool operator==(const Happening&) const = default;
};

// Returns a text for each difference between `before` and `after`: targets of pools, pauses, steps of rollouts, nodes
// that come and go, and activities of nodes.
std::vector<std::string> DifferencesOf(const ClusterState& before, const ClusterState& after);

// Adds the texts as the newest entries, and drops the oldest entries if the timeline becomes too long.
void AddTo(std::vector<Happening>& timeline, WallTime now, std::vector<std::string> texts);

}  // namespace pintle::dashboard
