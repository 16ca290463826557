// SPDX-License-Identifier: Apache-2.0
#pragma once

// The time that each node is assumed to take in a simulation, from when it is given the target until it is done.

#include <chrono>
#include <optional>
#include <string>

#include "api/rollout_policy.h"

namespace pintle::ctl {

inline constexpr std::chrono::seconds kShortestNodeTime(1);

struct NodeTime {
  std::chrono::seconds time;
  const char* from;    // "Option", "Nodes" if it was measured, or "Guess".
  std::string reason;  // The same in words for people.
};

// Returns the wanted time, or else the mean time of the nodes that were updated last under the policy, or else a guess.
NodeTime NodeTimeOf(const std::optional<std::chrono::seconds>& wanted, const api::RolloutMemory& memory);

}  // namespace pintle::ctl
