// SPDX-License-Identifier: Apache-2.0
#include "controller/metric_values.h"

#include <string_view>

#include "api/annotations.h"
#include "clusterops/cluster_operator.h"
#include "clusterops/pool_labels.h"

namespace pintle::controller {

std::vector<PoolMetricValues> MetricValuesOf(
    const View& view, const PoolMembers& members, const std::map<std::string, bool, std::less<>>& image_overridden,
    const std::function<const PauseReport*(const std::string& pool)>& pause_of) {
  std::vector<PoolMetricValues> all;
  for (const api::MachineConfigPool* pool : view.pools) {
    PoolMetricValues& values = all.emplace_back();
    const std::string& name = pool->metadata.name;
    values.pool = *pool;
    for (const pool::NodeState& node : members.Of(name)) values.nodes.push_back(node.name());
    const auto overridden = image_overridden.find(name);
    values.overrides_os_image = overridden != image_overridden.end() && overridden->second;
    values.is_required = clusterops::IsRequiredForUpgrade(*pool);
    const PauseReport* const pause = pause_of(name);
    if (pause != nullptr && pause->is_paused) values.pause = *pause;
  }
  return all;
}

bool AllowsOldBootImages(const View& view) {
  if (view.machine_configuration == nullptr || view.controller_config == nullptr) return false;
  const bool has_boot_images = view.topology() != api::kSingleReplicaTopology &&
                               view.controller_config->spec.infra.status.platform_status.type != "BareMetal";
  return has_boot_images && view.machine_configuration->status.boot_image_skew_enforcement.mode == "None";
}

std::map<std::string, bool> MastersInCustomPools(const PoolMembers& members) {
  std::map<std::string, bool> alerts;
  for (const auto& [pool, nodes] : members.nodes) {
    for (const pool::NodeState& node : nodes) alerts[node.name()] = false;
  }
  for (const std::string& node : members.masters_wanted_elsewhere) alerts[node] = true;
  return alerts;
}

std::map<std::string, bool> OperatorTasksOf(const std::set<std::string, std::less<>>& failed) {
  std::map<std::string, bool> tasks;
  for (const std::string_view task : clusterops::kOperatorTasks) tasks.emplace(task, failed.contains(task));
  return tasks;
}

}  // namespace pintle::controller
