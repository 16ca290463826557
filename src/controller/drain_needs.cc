// SPDX-License-Identifier: Apache-2.0
#include "controller/drain_needs.h"

#include <map>
#include <optional>
#include <utility>

#include "api/annotations.h"
#include "plan/cluster_policy.h"

namespace pintle::controller {
namespace {

// The names of the config that a node has, and of the config that it is to have.
using ConfigTransition = std::pair<std::string, std::string>;

std::optional<std::string> DesiredConfigIn(const NodeChange& change) {
  const auto& annotations = change.patch.metadata.annotations;
  const auto desired = annotations.find(std::string(api::kDesiredConfigAnnotation));
  return change.target_text.empty() || desired == annotations.end() ? std::nullopt : desired->second;
}

// Returns nullopt if the change does not assign a target, if its patch does not set the node's desired config, or if
// the view does not have the node.
std::optional<ConfigTransition> TransitionOf(const NodeChange& change, const View& view) {
  const auto desired = DesiredConfigIn(change);
  if (!desired) return std::nullopt;
  const api::Node* const node = view.NodeNamed(change.node);
  if (node == nullptr) return std::nullopt;
  return ConfigTransition{node->metadata.Annotation(api::kCurrentConfigAnnotation), *desired};
}

bool NeedsDrain(const ConfigTransition& transition, const View& view, const WholeConfigs& configs) {
  const auto plan = PlanBetween(transition.first, transition.second, view, configs);
  return !plan || plan->drain.is_needed;
}

}  // namespace

std::optional<plan::Plan> PlanBetween(const std::string& from, const std::string& to, const View& view,
                                      const WholeConfigs& configs) {
  const auto present = configs.find(from);
  const auto next = configs.find(to);
  if (present == configs.end() || next == configs.end()) return std::nullopt;
  const api::MachineConfiguration& settings = view.machine_settings();
  return plan::Make(present->second, next->second, plan::PolicyOf(settings),
                    settings.spec.irreconcilable_validation_overrides);
}

std::set<std::string> ConfigsOfUpdates(const Changes& changes, const View& view) {
  std::set<std::string> names;
  for (const NodeChange& change : changes.nodes) {
    const auto transition = TransitionOf(change, view);
    if (!transition) continue;
    names.insert(transition->first);
    names.insert(transition->second);
  }
  names.erase("");
  return names;
}

std::set<std::string> NodesToDrain(const Changes& changes, const View& view, const WholeConfigs& configs) {
  std::map<ConfigTransition, bool> needs;
  std::set<std::string> draining;
  for (const NodeChange& change : changes.nodes) {
    if (change.target_text.empty()) continue;
    const auto transition = TransitionOf(change, view);
    if (transition && !needs.contains(*transition)) needs[*transition] = NeedsDrain(*transition, view, configs);
    if (!transition || needs[*transition]) draining.insert(change.node);
  }
  return draining;
}

}  // namespace pintle::controller
