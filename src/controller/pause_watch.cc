// SPDX-License-Identifier: Apache-2.0
#include "controller/pause_watch.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "api/conditions.h"
#include "api/waiting_files.h"
#include "controller/pause_condition.h"
#include "controller/watched.h"
#include "plan/cluster_policy.h"
#include "pool/layering.h"

namespace pintle::controller {
namespace {

// Returns whether a pool is paused, or still has the condition that reports a pause.
bool IsOfInterest(const api::MachineConfigPool& pool) {
  return pool.spec.paused || api::FindCondition(pool.status.conditions, kPausedPending) != nullptr;
}

pool::Layering LayeringOf(const api::MachineConfigPool& pool, const View& view) {
  return pool::FindLayering(pool, view.os_configs, view.os_builds);
}

// Returns the configs that were rendered for a pool.
std::vector<KnownRender> RendersOf(const api::MachineConfigPool& pool, const View& view) {
  std::vector<KnownRender> renders;
  for (const api::MachineConfig* config : view.configs) {
    if (!IsRenderedAndUnlabelled(*config) || config->metadata.owner_references.front().uid != pool.metadata.uid)
      continue;
    if (!config->metadata.creation_timestamp) continue;
    renders.push_back({config->metadata.name, config->metadata.creation_timestamp->at});
  }
  return renders;
}

// Returns a text that differs whenever the report on a pause has to be made again.
std::string ReportKey(const api::MachineConfigPool& pool, const View& view, const std::vector<pool::NodeState>& nodes,
                      const std::vector<KnownRender>& renders, std::string_view image,
                      const std::vector<std::string>& needed, const WholeConfigs& configs) {
  std::string key = fmt::format("{} {} {} {}", pool.spec.configuration.name, pool.spec.paused,
                                pool.metadata.Annotation(kPausePolicyAnnotation), image);
  for (const pool::NodeState& node : nodes) {
    key += fmt::format("\n{} {} {} {} {}", node.name(), node.current_config(), node.desired_config(),
                       node.current_image().value_or(""), node.desired_image().value_or(""));
    if (node.is_done()) key += " done";
    if (node.is_failing()) key += " failing";
    key += " " + node.node().metadata.Annotation(api::kWaitingFilesAnnotation);
  }
  for (const KnownRender& render : renders) key += "\n" + render.name;
  for (const std::string& name : needed) {
    if (!configs.contains(name)) key += "\nwithout " + name;
  }
  if (view.controller_config != nullptr) key += "\nwith a ControllerConfig";
  if (view.machine_configuration != nullptr) key += "\n" + view.machine_configuration->metadata.resource_version;
  return key;
}

}  // namespace

std::set<std::string> PauseWatch::ConfigsToCompare(const View& view, const PoolMembers& members) const {
  std::set<std::string> names;
  for (const api::MachineConfigPool* pool : view.pools) {
    if (!IsOfInterest(*pool)) continue;
    for (auto& name : controller::ConfigsToCompare(*pool, members.Of(pool->metadata.name), LayeringOf(*pool, view))) {
      names.insert(std::move(name));
    }
  }
  return names;
}

void PauseWatch::Look(const View& view, const PoolMembers& members, const WholeConfigs& configs,
                      const IsFetchDone& is_fetch_done, WallTime now) {
  const api::MachineConfiguration& settings = view.machine_settings();
  unknown_.clear();
  std::map<std::string, Entry> known;
  for (const api::MachineConfigPool* pool : view.pools) {
    if (!IsOfInterest(*pool)) continue;
    const std::string& name = pool->metadata.name;
    const auto& nodes = members.Of(name);
    const pool::Layering layering = LayeringOf(*pool, view);
    const auto renders = RendersOf(*pool, view);
    const auto needed = controller::ConfigsToCompare(*pool, nodes, layering);
    std::string key = ReportKey(*pool, view, nodes, renders, layering.image(), needed, configs);
    const auto before = known_.find(name);
    if (before != known_.end() && before->second.key == key) {
      known.insert(known_.extract(before));
      continue;
    }
    if (!std::all_of(needed.begin(), needed.end(), is_fetch_done)) {
      unknown_.insert(name);
      continue;
    }
    Entry& made = known[name];
    made.key = std::move(key);
    made.report = ReportPause({.pool = *pool,
                               .nodes = nodes,
                               .layering = layering,
                               .configs = configs,
                               .renders = renders,
                               .policy = plan::PolicyOf(settings),
                               .overrides = settings.spec.irreconcilable_validation_overrides,
                               .now = now,
                               .has_controller_config = view.controller_config != nullptr});
  }
  known_ = std::move(known);
}

const PauseReport* PauseWatch::ReportOf(const std::string& pool) const {
  const auto found = known_.find(pool);
  return found == known_.end() ? nullptr : &found->second.report;
}

std::optional<WallTime> PauseWatch::NextChange(WallTime now) const {
  std::optional<WallTime> next;
  for (const auto& [pool, known] : known_) {
    const auto change = controller::NextChange(known.report, now);
    if (change && (!next || *change < *next)) next = change;
  }
  return next;
}

void PauseWatch::Clear() {
  known_.clear();
  unknown_.clear();
}

}  // namespace pintle::controller
