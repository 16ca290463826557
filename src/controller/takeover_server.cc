// SPDX-License-Identifier: Apache-2.0
#include "controller/takeover_server.h"

#include <fmt/core.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "api/node.h"
#include "controller/takeover_daemons.h"
#include "controller/takeover_pods.h"

namespace pintle::controller {
namespace {

constexpr const char* kOldServer = "machine-config-server";
// The name of the port in deploy/ignition/openshift.
constexpr const char* kIgnitionPort = "ignition";

// Returns sentences about the nodes without a ready pod of the operator's server, with a remedy for each node.
std::string UnreadyServersText(const TakeoverState& state) {
  std::string text;
  for (const auto& [name, pod] : state.unready_servers) {
    const auto node = std::find_if(state.nodes.begin(), state.nodes.end(),
                                   [&name = name](const api::Node& known) { return known.metadata.name == name; });
    text += fmt::format(". The pod {} on the node {} is not ready", pod, name);
    if (node != state.nodes.end() && IsDown(*node)) {
      text += ", because the node is not Ready: start its machine, or delete its Node if the machine is gone";
    } else {
      text +=
          fmt::format(": `kubectl describe -n {} pod {}` lists the reason", state.server->metadata.namespace_name, pod);
    }
  }
  return text;
}

bool IsOnDownNode(const ServerReplica& replica, const TakeoverState& state) {
  return std::any_of(state.nodes.begin(), state.nodes.end(),
                     [&](const api::Node& node) { return node.metadata.name == replica.node && IsDown(node); });
}

// Returns how many of our pods are on machines that are down.  Such a pod serves nothing and has no ports until its
// machine is back, and the pod that replaces it may find no other machine.  So neither of the two is awaited.
std::int64_t CountReplicasOnDownNodes(const TakeoverState& state) {
  return std::count_if(state.server_replicas.begin(), state.server_replicas.end(),
                       [&](const ServerReplica& replica) { return IsOnDownNode(replica, state); });
}

// Returns the names of our pods that do not serve, or "".  A pod that starts will take the ports of its machine, and
// one that ends may still have them, so both are awaited.
std::string SilentReplicasText(const TakeoverState& state) {
  std::string text;
  std::int64_t replacements = CountReplicasOnDownNodes(state);
  for (const ServerReplica& replica : state.server_replicas) {
    if (replica.answers || IsOnDownNode(replica, state)) continue;
    if (replica.node.empty() && replica.phase == ServerReplica::Phase::kStarts && replacements-- > 0) continue;
    if (!text.empty()) text += ", ";
    text += replica.pod;
    if (replica.phase == ServerReplica::Phase::kStarts) text += " (which has not started)";
    if (replica.phase == ServerReplica::Phase::kEnds) text += " (which has to end)";
  }
  return text;
}

// Returns why the Deployment may still start or end pods, or "".  The pods alone do not prove that there will be no
// others: the Deployment's controller creates and deletes them one after the other.
std::string WhyRolloutIsUnfinished(const TakeoverState& state, const TakeoverSettings& settings) {
  const WholeDeployment& ours = *state.ours;
  const std::int64_t wanted = NumberIn(ours.spec, "replicas", 1);
  const std::int64_t wanted_ready = std::max<std::int64_t>(wanted - CountReplicasOnDownNodes(state), 1);
  const json::Value& status = ours.status;
  const bool is_seen = NumberIn(status, "observedGeneration") >= ours.metadata.generation;
  const bool are_ready =
      NumberIn(status, "updatedReplicas") >= wanted && NumberIn(status, "readyReplicas") >= wanted_ready;
  const bool are_others_gone = NumberIn(status, "replicas") <= wanted;
  const std::string name = fmt::format("the Deployment {}/{}", settings.own_namespace, settings.own_deployment);
  if (!is_seen || !are_ready) return fmt::format("not all replicas of {} are ready with its present settings", name);
  return are_others_gone ? "" : fmt::format("{} has pods with earlier settings", name);
}

// Returns what has to become true until our server has taken over on all machines, or "".
std::string WhatServingAwaits(const TakeoverState& state, const TakeoverSettings& settings) {
  const std::string silent = SilentReplicasText(state);
  if (state.server_replicas.empty() || !silent.empty()) {
    return fmt::format(
        "the Ignition server answers, and has the configs of all pools, in the pods {} of the Deployment "
        "{}/{}",
        silent.empty() ? "(there are none yet)" : silent, settings.own_namespace, settings.own_deployment);
  }
  const std::string unfinished = WhyRolloutIsUnfinished(state, settings);
  return unfinished.empty() ? "" : "this is corrected: " + unfinished;
}

}  // namespace

TakeoverStep ServerStep(const TakeoverState& state, const TakeoverSettings& settings) {
  TakeoverStep step{.name = "server", .is_done = HasServerEnded(state)};
  if (step.is_done) return step;
  json::Value selector = NodeSelectorOf(*state.server);
  if (selector.contains(kNoNodeSelector)) {
    step.waits_for = EndOfPodsText("DaemonSet", kOldServer, state);
    return step;
  }
  // Pintle's server must be ready to begin as soon as the old one has ended.
  if (const std::string why = WhyServerMustStay(state, settings); !why.empty()) {
    step.waits_for = fmt::format("this is corrected: {}", why);
    return step;
  }
  step.waits_for = EndOfPodsText("DaemonSet", kOldServer, state);
  selector[kNoNodeSelector] = "true";
  step.write = NodeSelectorWrite(*state.server, selector);
  return step;
}

TakeoverStep ServingStep(const TakeoverState& state, const TakeoverSettings& settings) {
  TakeoverStep step{.name = "serving", .is_done = !state.server || !state.ours};
  if (step.is_done) return step;
  const std::string awaited = WhatServingAwaits(state, settings);
  step.is_done = awaited.empty();
  if (step.is_done) return step;
  step.waits_for = fmt::format(
      "{0}; `kubectl describe -n {1} deployment {2}` and `kubectl logs -n {1} deployment/{2}` list the reason", awaited,
      settings.own_namespace, settings.own_deployment);
  return step;
}

TakeoverStep ServerBackStep(const TakeoverState& state, const json::Value& before) {
  TakeoverStep step{.name = "server",
                    .is_done = !state.server || NodeSelectorOf(*state.server) == before ||
                               !NodeSelectorOf(*state.server).contains(kNoNodeSelector)};
  if (!step.is_done) step.write = NodeSelectorWrite(*state.server, before);
  return step;
}

TakeoverStep OperatorServesStep(const TakeoverState& state) {
  TakeoverStep step{.name = "serving", .is_done = !AreServersAwaited(state)};
  if (step.is_done) return step;
  const json::Value& status = state.server->status;
  step.waits_for = fmt::format("all pods of the DaemonSet {} are ready ({} of {} are){}", kOldServer,
                               NumberIn(status, "numberReady"), NumberIn(status, "desiredNumberScheduled"),
                               UnreadyServersText(state));
  return step;
}

bool AreServersAwaited(const TakeoverState& state) {
  const bool may_collide = state.server && state.ours && IgnitionPortOf(*state.ours);
  if (!may_collide || Replicas(state.ours) != json::Value(0)) return false;
  const json::Value& status = state.server->status;
  return NumberIn(status, "observedGeneration") < state.server->metadata.generation ||
         NumberIn(status, "numberReady") < NumberIn(status, "desiredNumberScheduled");
}

bool HasServerEnded(const TakeoverState& state) {
  if (!state.server) return true;
  const json::Value& status = state.server->status;
  // A pod that is ending on a machine where it should not run counts as misscheduled.
  return NodeSelectorOf(*state.server).contains(kNoNodeSelector) &&
         NumberIn(status, "observedGeneration") >= state.server->metadata.generation &&
         NumberIn(status, "currentNumberScheduled") == 0 && NumberIn(status, "numberMisscheduled") == 0 &&
         !state.remaining_pods.contains(kOldServer);
}

std::string WhyServerMustStay(const TakeoverState& state, const TakeoverSettings& settings) {
  if (!state.server) return "";
  const std::string ours = fmt::format("the Deployment {}/{}", settings.own_namespace, settings.own_deployment);
  if (!state.ours || !IgnitionPortOf(*state.ours)) {
    return fmt::format("{} has no Ignition server; apply deploy/ignition/openshift", ours);
  }
  return WhyRolloutIsUnfinished(state, settings);
}

std::optional<std::int64_t> IgnitionPortOf(const WholeDeployment& deployment) {
  const json::Value* const containers = deployment.spec.Find({"template", "spec", "containers"});
  if (containers == nullptr) return std::nullopt;
  for (const json::Value& container : *containers) {
    for (const json::Value& port : container["ports"]) {
      const std::int64_t number = NumberIn(port, "containerPort");
      if (port.TextAt({"name"}) == kIgnitionPort && number > 0) return number;
    }
  }
  return std::nullopt;
}

}  // namespace pintle::controller
