// SPDX-License-Identifier: Apache-2.0
#include "controller/figures.h"

namespace pintle::controller {

std::vector<PoolFigures> FiguresOf(const View& view, const Rosters& rosters,
                                   const std::map<std::string, bool, std::less<>>& image_overridden,
                                   const std::function<const PauseReport*(const std::string& pool)>& pause_of) {
  std::vector<PoolFigures> all;
  for (const api::MachineConfigPool* pool : view.pools) {
    PoolFigures& figures = all.emplace_back();
    const std::string& name = pool->metadata.name;
    figures.pool = *pool;
    for (const pool::NodeState& node : rosters.Of(name)) figures.nodes.push_back(node.name());
    const auto overridden = image_overridden.find(name);
    figures.overrides_os_image = overridden != image_overridden.end() && overridden->second;
    const PauseReport* const pause = pause_of(name);
    if (pause != nullptr && pause->is_paused) figures.pause = *pause;
  }
  return all;
}

std::map<std::string, bool> AlertsOf(const Rosters& rosters) {
  std::map<std::string, bool> alerts;
  for (const auto& [pool, nodes] : rosters.nodes) {
    for (const pool::NodeState& node : nodes) alerts[node.name()] = false;
  }
  for (const std::string& node : rosters.masters_wanted_elsewhere) alerts[node] = true;
  return alerts;
}

}  // namespace pintle::controller
