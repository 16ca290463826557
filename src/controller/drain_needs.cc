// SPDX-License-Identifier: Apache-2.0
#include "controller/drain_needs.h"

#include <map>
#include <optional>
#include <utility>

#include "api/annotations.h"
#include "plan/cluster_policy.h"
#include "plan/plan.h"

namespace pintle::controller {
namespace {

// The config that a node has and the one that it gets.
using Way = std::pair<std::string, std::string>;

std::optional<std::string> ConfigToldBy(const NodeChange& change) {
  const auto& annotations = change.patch.metadata.annotations;
  const auto told = annotations.find(std::string(api::kDesiredConfigAnnotation));
  return change.target_text.empty() || told == annotations.end() ? std::nullopt : told->second;
}

// Returns nullopt if the node keeps its config.
std::optional<Way> WayOf(const NodeChange& change, const View& view) {
  const auto told = ConfigToldBy(change);
  if (!told) return std::nullopt;
  const api::Node* const node = view.NodeNamed(change.node);
  if (node == nullptr) return std::nullopt;
  return Way{node->metadata.Annotation(api::kCurrentConfigAnnotation), *told};
}

bool NeedsDrain(const Way& way, const View& view, const WholeConfigs& configs) {
  const auto from = configs.find(way.first);
  const auto to = configs.find(way.second);
  if (from == configs.end() || to == configs.end()) return true;
  static const api::MachineConfiguration kNothingSaid;
  const auto& said = view.machine_configuration == nullptr ? kNothingSaid : *view.machine_configuration;
  const plan::Plan plan =
      plan::Make(from->second, to->second, plan::PolicyOf(said), said.spec.irreconcilable_validation_overrides);
  return plan.drain.is_needed;
}

}  // namespace

std::set<std::string> ConfigsOfTold(const Changes& changes, const View& view) {
  std::set<std::string> names;
  for (const NodeChange& change : changes.nodes) {
    const auto way = WayOf(change, view);
    if (!way) continue;
    names.insert(way->first);
    names.insert(way->second);
  }
  names.erase("");
  return names;
}

std::set<std::string> NodesToDrain(const Changes& changes, const View& view, const WholeConfigs& configs) {
  std::map<Way, bool> needs;
  std::set<std::string> draining;
  for (const NodeChange& change : changes.nodes) {
    if (change.target_text.empty()) continue;
    const auto way = WayOf(change, view);
    if (way && !needs.contains(*way)) needs[*way] = NeedsDrain(*way, view, configs);
    if (!way || needs[*way]) draining.insert(change.node);
  }
  return draining;
}

}  // namespace pintle::controller
