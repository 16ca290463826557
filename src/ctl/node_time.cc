// SPDX-License-Identifier: Apache-2.0
#include "ctl/node_time.h"

#include <fmt/core.h>

#include <algorithm>

namespace pintle::ctl {
namespace {

using std::chrono::seconds;

constexpr seconds kGuessedNodeTime = std::chrono::minutes(10);
constexpr seconds kLongestNodeTime = std::chrono::days(365);

}  // namespace

NodeTime NodeTimeOf(const std::optional<seconds>& wanted, const api::RolloutMemory& memory) {
  if (wanted) return {*wanted, "Option", "as --node-time sets it"};
  if (memory.took && memory.took->nodes > 0) {
    const seconds mean(memory.took->seconds / memory.took->nodes);
    if (memory.took->seconds < 0 || mean > kLongestNodeTime) {
      return {kGuessedNodeTime, "Guess",
              fmt::format("a guess, since the time in the policy's status is impossible: {} nodes took {} seconds; "
                          "--node-time sets it",
                          memory.took->nodes, memory.took->seconds)};
    }
    return {std::max(mean, kShortestNodeTime), "Nodes",
            fmt::format("the mean of the {} nodes that were updated last under this policy", memory.took->nodes)};
  }
  return {kGuessedNodeTime, "Guess", "a guess, since no node was updated under the policy yet; --node-time sets it"};
}

}  // namespace pintle::ctl
