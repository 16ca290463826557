// SPDX-License-Identifier: Apache-2.0
#include "controller/drain_needs.h"

#include <map>
#include <optional>
#include <utility>

#include "api/annotations.h"
#include "plan/cluster_policy.h"

namespace pintle::controller {
namespace {

constexpr std::size_t kComparedAtOnce = 4;

std::optional<std::string> DesiredConfigIn(const NodeChange& change) {
  const auto& annotations = change.patch.metadata.annotations;
  const auto desired = annotations.find(std::string(api::kDesiredConfigAnnotation));
  return change.target_text.empty() || desired == annotations.end() ? std::nullopt : desired->second;
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

// Returns nullopt if the change does not assign a target, if its patch does not set the node's desired config, or if
// the view does not have the node.
std::optional<DrainNeeds::Transition> DrainNeeds::TransitionOf(const NodeChange& change, const View& view) {
  const auto desired = DesiredConfigIn(change);
  if (!desired) return std::nullopt;
  const api::Node* const node = view.NodeNamed(change.node);
  if (node == nullptr) return std::nullopt;
  return Transition{node->metadata.Annotation(api::kCurrentConfigAnnotation), *desired};
}

void DrainNeeds::Look(const Changes& changes, const View& view) {
  const std::string& version = view.machine_settings().metadata.resource_version;
  if (std::exchange(settings_version_, version) != version) needs_.clear();
  std::map<Transition, std::optional<bool>> known = std::exchange(needs_, {});
  for (const NodeChange& change : changes.nodes) {
    const auto transition = TransitionOf(change, view);
    if (!transition || needs_.contains(*transition)) continue;
    const auto found = known.find(*transition);
    needs_.emplace(*transition, found == known.end() ? std::nullopt : found->second);
  }
}

std::vector<DrainNeeds::Transition> DrainNeeds::Next() const {
  std::vector<Transition> next;
  for (const auto& [transition, is_needed] : needs_) {
    if (next.size() < kComparedAtOnce && !is_needed) next.push_back(transition);
  }
  return next;
}

std::set<std::string> DrainNeeds::ConfigsToCompare() const {
  std::set<std::string> names;
  for (const auto& [from, to] : Next()) names.insert({from, to});
  names.erase("");
  return names;
}

bool DrainNeeds::Decide(const View& view, const WholeConfigs& configs, const IsFetchDone& is_fetch_done) {
  const auto is_done = [&](const std::string& name) { return name.empty() || is_fetch_done(name); };
  bool has_decided = false;
  for (const Transition& transition : Next()) {
    if (!is_done(transition.first) || !is_done(transition.second)) continue;
    const auto plan = PlanBetween(transition.first, transition.second, view, configs);
    needs_[transition] = !plan || plan->drain.is_needed;
    has_decided = true;
  }
  return has_decided && !Next().empty();
}

std::optional<std::set<std::string>> DrainNeeds::NodesToDrain(const Changes& changes, const View& view) const {
  if (!Next().empty()) return std::nullopt;
  std::set<std::string> draining;
  for (const NodeChange& change : changes.nodes) {
    if (change.target_text.empty()) continue;
    const auto transition = TransitionOf(change, view);
    if (!transition || needs_.at(*transition).value_or(true)) draining.insert(change.node);
  }
  return draining;
}

}  // namespace pintle::controller
