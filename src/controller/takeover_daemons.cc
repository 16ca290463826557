// SPDX-License-Identifier: Apache-2.0
#include "controller/takeover_daemons.h"

#include <fmt/core.h>

#include <algorithm>
#include <initializer_list>
#include <iterator>
#include <string_view>
#include <utility>

#include "api/annotations.h"
#include "controller/replacing_patch.h"

namespace pintle::controller {
namespace {

constexpr const char* kAffinityPath = "/spec/template/spec/affinity";
constexpr const char* kStrategyPath = "/spec/updateStrategy";
// The member of a nodeAffinity with the terms that a node must match.
constexpr const char* kRequired = "requiredDuringSchedulingIgnoredDuringExecution";

// Returns null if there is no such member.
const json::Value& MemberAt(const json::Value& value, std::initializer_list<std::string_view> keys) {
  static const json::Value kNothing;
  const json::Value* const found = value.Find(keys);
  return found == nullptr ? kNothing : *found;
}

// ---- the DaemonSet ----

bool ExcludesNodesWithAgents(const json::Value& term) {
  const json::Value& expressions = term["matchExpressions"];
  return std::any_of(expressions.begin(), expressions.end(), [](const json::Value& expression) {
    return expression.TextAt({"key"}) == api::kAgentLabel && expression.TextAt({"operator"}) == "DoesNotExist";
  });
}

// Returns the DaemonSet's affinity with the condition that a node does not have the label.  A node has to match only
// one of the terms, so each term gets the condition.
json::Value AffinityForAgents(const WholeDaemonSet& daemon) {
  json::Value affinity = MemberAt(daemon.spec, {"template", "spec", "affinity"});
  json::Value& terms = affinity["nodeAffinity"][kRequired]["nodeSelectorTerms"];
  if (terms.empty()) terms.push_back(json::Value::object());
  for (json::Value& term : terms) {
    if (!ExcludesNodesWithAgents(term)) {
      term["matchExpressions"].push_back({{"key", api::kAgentLabel}, {"operator", "DoesNotExist"}});
    }
  }
  return affinity;
}

TakeoverWrite DaemonWrite(const WholeDaemonSet& daemon, json::Value patch, std::string_view change) {
  return {.object = TakeoverObject::kDaemonSet,
          .namespace_name = daemon.metadata.namespace_name,
          .name = daemon.metadata.name,
          .patch = std::move(patch),
          .in_words = fmt::format("DaemonSet {}/{}: {}", daemon.metadata.namespace_name, daemon.metadata.name, change)};
}

TakeoverStep AffinityStep(const TakeoverState& state) {
  TakeoverStep step{.name = "daemons", .is_done = !state.daemon || LeavesNodesToAgents(*state.daemon)};
  if (step.is_done) return step;
  ReplacingPatch patch(state.daemon->metadata);
  patch.Set(kAffinityPath, AffinityForAgents(*state.daemon));
  // With OnDelete, the changed template does not restart the pods of the nodes that keep the daemon.
  patch.Set(kStrategyPath, {{"type", "OnDelete"}});
  step.write = DaemonWrite(*state.daemon, std::move(patch).operations(),
                           fmt::format("its pods leave nodes with the label {}", api::kAgentLabel));
  return step;
}

TakeoverStep AffinityBackStep(const TakeoverState& state, const json::Value& before) {
  TakeoverStep step{.name = "daemons", .is_done = !state.daemon || !LeavesNodesToAgents(*state.daemon)};
  if (step.is_done) return step;
  ReplacingPatch patch(state.daemon->metadata);
  for (const auto& [path, member] :
       {std::pair(kAffinityPath, "affinity"), std::pair(kStrategyPath, "updateStrategy")}) {
    const json::Value& value = before[member];
    value.is_null() ? patch.Remove(path) : patch.Set(path, value);
  }
  step.write = DaemonWrite(*state.daemon, std::move(patch).operations(),
                           "its affinity and its updateStrategy become as they were");
  return step;
}

// ---- the nodes ----

// A node that has an agent.
struct AgentNode {
  const api::Node& node;
  const std::string* label;   // nullptr if there is none.
  const std::string& report;  // What the agent reports, or "".
  bool has_daemon;
  bool awaits_daemon;  // There is a pod of the daemon for the node that the scheduler has not placed yet.

  bool LabelIs(std::string_view value) const { return label != nullptr && *label == value; }
  bool IsDown() const { return controller::IsDown(node); }
  // Returns whether the node is Done with its desired config and image, and no drain or uncordon is outstanding.
  bool IsIdle() const {
    const api::ObjectMeta& metadata = node.metadata;
    const std::string& config = metadata.Annotation(api::kDesiredConfigAnnotation);
    return metadata.Annotation(api::kStateAnnotation) == api::kStateDone && !config.empty() &&
           metadata.Annotation(api::kCurrentConfigAnnotation) == config &&
           metadata.Annotation(api::kDesiredImageAnnotation) == metadata.Annotation(api::kCurrentImageAnnotation) &&
           metadata.Annotation(api::kDesiredDrainAnnotation) == metadata.Annotation(api::kLastAppliedDrainAnnotation);
  }
};

std::vector<AgentNode> AgentNodesOf(const TakeoverState& state) {
  std::vector<AgentNode> nodes;
  for (const api::Node& node : state.nodes) {
    const std::string* const label = api::Find(node.metadata.labels, api::kAgentLabel);
    const std::string& report = node.metadata.Annotation(api::kAgentStateAnnotation);
    if (label == nullptr && report != api::kAgentStandsBy) continue;
    nodes.push_back({.node = node,
                     .label = label,
                     .report = report,
                     .has_daemon = state.nodes_with_daemon.contains(node.metadata.name),
                     .awaits_daemon = state.nodes_awaiting_daemon.contains(node.metadata.name)});
  }
  return nodes;
}

TakeoverWrite NodeWrite(const api::Node& node, json::Value patch, std::string_view change) {
  return {.object = TakeoverObject::kNode,
          .name = node.metadata.name,
          .patch = std::move(patch),
          .in_words = fmt::format("Node {}: its label {} {}", node.metadata.name, api::kAgentLabel, change)};
}

TakeoverWrite LabelWrite(const api::Node& node, std::string_view value) {
  ReplacingPatch patch(node.metadata);
  patch.SetLabels({{std::string(api::kAgentLabel), std::string(value)}});
  return NodeWrite(node, std::move(patch).operations(), fmt::format("becomes {}", value));
}

TakeoverWrite LabelRemoval(const api::Node& node) {
  ReplacingPatch patch(node.metadata);
  patch.RemoveLabels({api::kAgentLabel});
  return NodeWrite(node, std::move(patch).operations(), "is removed");
}

// The step of a node, and its rank among the steps of all nodes: steps with a lower rank come first.  The step has the
// rank 0 if the handover of the node has begun or is done, and the rank 1 if the handover can begin now.  The step has
// the rank 2 if the other nodes must not wait for the node, for example while it is being updated.  So a handover that
// has begun ends before the next handover begins.
struct RankedStep {
  int rank;
  TakeoverStep step;
};

std::vector<TakeoverStep> InOrder(std::vector<RankedStep> ranked) {
  std::stable_sort(ranked.begin(), ranked.end(),
                   [](const RankedStep& a, const RankedStep& b) { return a.rank < b.rank; });
  std::vector<TakeoverStep> steps;
  for (RankedStep& next : ranked) steps.push_back(std::move(next.step));
  return steps;
}

// Returns the text TakeoverStep::waits_for of a node's step, with the remedy if the node is down.
std::string WaitFor(const AgentNode& node, std::string_view what) {
  if (!node.IsDown()) return std::string(what);
  return fmt::format("{} (the node is not Ready: start its machine, or delete its Node if the machine is gone)", what);
}

RankedStep StepToAgent(const AgentNode& node) {
  TakeoverStep step{.name = node.node.metadata.name};
  if (node.LabelIs(api::kAgentActs)) {
    step.is_done = node.report == api::kAgentHasSettled;
    step.waits_for = WaitFor(node, "the agent reports that the node has its config");
    return {0, std::move(step)};
  }
  // A pod that waits for the scheduler could be placed on the node, and begin there, after the agent has the node.
  if (node.LabelIs(api::kAgentAwaited) && !node.has_daemon && !node.awaits_daemon) {
    step.write = LabelWrite(node.node, api::kAgentActs);
    step.waits_for = WaitFor(node, "the agent reports that the node has its config");
    return {0, std::move(step)};
  }
  step.waits_for = WaitFor(node, "the daemon's pod has left the node");
  if (node.LabelIs(api::kAgentAwaited)) return {0, std::move(step)};
  const bool is_begun = node.label != nullptr;
  // The daemon's pod does not end while its node is down, and the other nodes would wait for it.
  if (!is_begun && (node.IsDown() || !node.IsIdle())) {
    step.waits_for = WaitFor(node, "the node is Done with the config that it is to have");
    return {2, std::move(step)};
  }
  step.write = LabelWrite(node.node, api::kAgentAwaited);
  return {is_begun ? 0 : 1, std::move(step)};
}

RankedStep StepToDaemon(const AgentNode& node) {
  TakeoverStep step{.name = node.node.metadata.name};
  if (node.label == nullptr) {
    step.is_done = node.has_daemon;
    step.waits_for = fmt::format(
        "the daemon's pod is on the node again (if the DaemonSet makes none for this node, remove Pintle's agent from "
        "its machine, and then the annotation {} of the Node)",
        api::kAgentStateAnnotation);
    return {0, std::move(step)};
  }
  // A node that is down must not keep the other nodes from being given back.
  const int rank_if_begun = node.IsDown() ? 2 : 0;
  step.waits_for = WaitFor(node, "the agent reports that it stands by");
  if (!node.IsDown()) {
    step.waits_for += fmt::format(" (if the machine has no agent any more, remove the annotation {} of the Node)",
                                  api::kAgentStateAnnotation);
  }
  if (node.LabelIs(api::kAgentActs)) {
    step.write = LabelWrite(node.node, api::kAgentLeaves);
    return {std::max(rank_if_begun, 1), std::move(step)};
  }
  // A node without a report has no agent.
  if (node.report == api::kAgentStandsBy || node.report.empty()) step.write = LabelRemoval(node.node);
  return {rank_if_begun, std::move(step)};
}

}  // namespace

bool LeavesNodesToAgents(const WholeDaemonSet& daemon) {
  const json::Value& terms =
      MemberAt(daemon.spec, {"template", "spec", "affinity", "nodeAffinity", kRequired, "nodeSelectorTerms"});
  return !terms.empty() && std::all_of(terms.begin(), terms.end(), ExcludesNodesWithAgents);
}

json::Value RecordOfDaemon(const WholeDaemonSet& daemon) {
  json::Value record;
  record["affinity"] = MemberAt(daemon.spec, {"template", "spec", "affinity"});
  record["updateStrategy"] = MemberAt(daemon.spec, {"updateStrategy"});
  return record;
}

json::Value InstalledRecordOfDaemon(const WholeDaemonSet& daemon) {
  json::Value record = RecordOfDaemon(daemon);
  if (!LeavesNodesToAgents(daemon)) return record;
  record["updateStrategy"] = json::Value();
  json::Value& affinity = record["affinity"];
  json::Value terms;
  for (json::Value& term : affinity["nodeAffinity"][kRequired]["nodeSelectorTerms"]) {
    json::Value others;
    for (const json::Value& expression : term["matchExpressions"]) {
      if (expression.TextAt({"key"}) != api::kAgentLabel) others.push_back(expression);
    }
    term.Erase("matchExpressions");
    if (!others.empty()) term["matchExpressions"] = std::move(others);
    // A term that is empty now was added by the takeover.
    if (!term.empty()) terms.push_back(std::move(term));
  }
  if (!terms.empty()) {
    affinity["nodeAffinity"][kRequired]["nodeSelectorTerms"] = std::move(terms);
    return record;
  }
  affinity["nodeAffinity"].Erase(kRequired);
  if (affinity["nodeAffinity"].empty()) affinity.Erase("nodeAffinity");
  if (affinity.empty()) affinity = json::Value();
  return record;
}

bool IsDown(const api::Node& node) {
  const auto& conditions = node.status.conditions;
  return std::any_of(conditions.begin(), conditions.end(), [](const api::NodeCondition& condition) {
    return condition.type == "Ready" && condition.status != "True";
  });
}

std::size_t CountOfAgents(const TakeoverState& state) { return AgentNodesOf(state).size(); }

std::string NodeOfAnAgent(const TakeoverState& state) {
  const std::vector<AgentNode> nodes = AgentNodesOf(state);
  return nodes.empty() ? "" : nodes.front().node.metadata.name;
}

std::vector<TakeoverStep> StepsToHandNodesToAgents(const TakeoverState& state) {
  std::vector<TakeoverStep> steps = {AffinityStep(state)};
  std::vector<RankedStep> ranked;
  for (const AgentNode& node : AgentNodesOf(state)) ranked.push_back(StepToAgent(node));
  std::vector<TakeoverStep> of_nodes = InOrder(std::move(ranked));
  std::move(of_nodes.begin(), of_nodes.end(), std::back_inserter(steps));
  return steps;
}

std::vector<TakeoverStep> StepsToHandNodesBack(const TakeoverState& state, const json::Value& before) {
  // The DaemonSet is restored only when each node without the label has its pod again.
  const bool waits_for_pods = state.daemon && LeavesNodesToAgents(*state.daemon);
  std::vector<RankedStep> ranked;
  for (const AgentNode& node : AgentNodesOf(state)) {
    if (node.label != nullptr || waits_for_pods) ranked.push_back(StepToDaemon(node));
  }
  std::vector<TakeoverStep> steps = InOrder(std::move(ranked));
  steps.push_back(AffinityBackStep(state, before));
  return steps;
}

}  // namespace pintle::controller
