// SPDX-License-Identifier: Apache-2.0
#include "clusterops/pool_summary.h"

#include <fmt/core.h>

#include <algorithm>

#include "gotext/quote.h"

namespace pintle::clusterops {

const api::Condition* LastCondition(const api::MachineConfigPool& pool, std::string_view type) {
  const auto& conditions = pool.status.conditions;
  const auto found = std::find_if(conditions.rbegin(), conditions.rend(),
                                  [&](const api::Condition& condition) { return condition.type == type; });
  return found == conditions.rend() ? nullptr : &*found;
}

bool HasTrueCondition(const api::MachineConfigPool& pool, std::string_view type) {
  const api::Condition* const condition = LastCondition(pool, type);
  return condition != nullptr && condition->status == "True";
}

std::string PoolSummary(const api::MachineConfigPool& pool) {
  const auto degraded = [&](std::string_view type, std::string_view why) {
    const api::Condition& condition = *LastCondition(pool, type);
    return fmt::format("pool is degraded because {} with {}: {}", why, gotext::Quoted(condition.reason),
                       gotext::Quoted(condition.message));
  };
  const api::MachineConfigPoolStatus& status = pool.status;
  if (HasTrueCondition(pool, "RenderDegraded")) return degraded("RenderDegraded", "rendering fails");
  if (HasTrueCondition(pool, "NodeDegraded")) return degraded("NodeDegraded", "nodes fail");
  if (HasTrueCondition(pool, "Updated")) {
    return fmt::format("all {} nodes are at latest configuration {}", status.machine_count, status.configuration.name);
  }
  if (HasTrueCondition(pool, "Updating")) {
    return fmt::format("{} (ready {}) out of {} nodes are updating to latest configuration {}",
                       status.updated_machine_count, status.ready_machine_count, status.machine_count,
                       pool.spec.configuration.name);
  }
  if (HasTrueCondition(pool, "PinnedImageSetsDegraded")) {
    return degraded("PinnedImageSetsDegraded", "pinned image sets failed");
  }
  return "<unknown>";
}

}  // namespace pintle::clusterops
