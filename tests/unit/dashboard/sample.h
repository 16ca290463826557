// SPDX-License-Identifier: Apache-2.0
#pragma once

// Sample contents of the dashboard's page, for tests.

#include <string>
#include <vector>

#include "dashboard/document.h"

namespace pintle::dashboard {

inline const WallTime kNow = WallTime(std::chrono::seconds(1'800'000'000));  // 2027-01-15T08:00:00Z

inline NodeEntry Entry(std::string name, Activity activity, std::string explanation = "") {
  return {.name = std::move(name),
          .activity = activity,
          .config = "rendered-old",
          .desired_config = "rendered-new",
          .explanation = std::move(explanation),
          .drain_began = {}};
}

inline Contents ContentsWith(std::vector<NodeEntry> nodes) {
  Contents contents;
  contents.now = kNow;
  contents.cluster.pools.push_back(
      {.name = "worker", .target = "rendered-new", .is_paused = false, .conditions = {}, .nodes = std::move(nodes)});
  return contents;
}

}  // namespace pintle::dashboard
