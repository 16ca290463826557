// SPDX-License-Identifier: Apache-2.0
#include "dashboard/cluster_state.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <map>
#include <tuple>
#include <utility>

#include "api/annotations.h"
#include "drain/protocol.h"
#include "pool/status.h"

namespace pintle::dashboard {
namespace {

using MachineConfigNodes = std::map<std::string_view, const api::MachineConfigNode*>;

// These conditions are not listed: the page has their contents in another place, or they belong to a normal build of an
// image.
constexpr auto kCoveredConditions = std::to_array<std::string_view>(
    {"Updated", "Updating", "Degraded", "NodeDegraded", "BuildPending", "Building", "BuildSuccess"});

// The waves of a policy, of which there are 32 at most, and one more wave that has all other nodes.
constexpr int kMostWaveNames = 33;

// Describes the phases of a rollout for people.
constexpr auto kPhases = std::to_array<std::pair<std::string_view, std::string_view>>({
    {"Held", "is held back by the pool"},
    {"Updating", "updates nodes"},
    {"Soaking", "watches the nodes of the wave"},
    {"AwaitingApproval", "waits for an approval"},
    {"Staging", "waits until nodes have staged the config"},
    {"AwaitingGate", "waits for a gate"},
    {"AwaitingWindow", "waits for a window"},
    {"Frozen", "waits for the end of a freeze"},
    {"Halted", "is halted"},
    {"Complete", "is complete"},
});

bool IsRebooting(const api::Node& node) {
  return node.metadata.Annotation(api::kStateAnnotation) == api::kStateRebooting;
}

Activity ActivityOf(const pool::NodeState& node, const drain::DrainState& drain, std::string_view target) {
  if (node.is_degraded()) return Activity::kDegraded;
  if (drain.asked && drain.asked->verb == drain::Verb::kDrain) return Activity::kDraining;
  if (IsRebooting(node.node())) return Activity::kRebooting;
  if (!node.is_done()) return Activity::kUpdating;
  if (!node.is_ready()) return Activity::kNotReady;
  return node.current_config() == target ? Activity::kDone : Activity::kWaiting;
}

// Returns what a drain waits for, which the controller writes into the condition Drained of the MachineConfigNode.
std::string WhatDrainAwaits(const MachineConfigNodes& nodes, std::string_view name) {
  const auto found = nodes.find(name);
  if (found == nodes.end()) return {};
  for (const api::Condition& condition : found->second->status.conditions) {
    if (condition.type == "Drained" && condition.status != "True") return condition.message;
  }
  return {};
}

NodeEntry NodeEntryOf(const pool::NodeState& node, const MachineConfigNodes& machine_config_nodes,
                      std::string_view target) {
  const drain::DrainState drain = drain::DrainStateOf(node.node());
  NodeEntry entry{.name = node.name(),
                  .activity = ActivityOf(node, drain, target),
                  .config = std::string(node.current_config()),
                  .desired_config = std::string(node.desired_config()),
                  .explanation = {},
                  .drain_began = {}};
  if (entry.activity == Activity::kDegraded) entry.explanation = node.reason();
  if (entry.activity == Activity::kNotReady) entry.explanation = pool::WhyNotReady(node.node()).value_or("");
  if (entry.activity == Activity::kDraining) {
    entry.explanation = WhatDrainAwaits(machine_config_nodes, node.name());
    entry.drain_began = drain.started;
  }
  return entry;
}

bool IsListed(const api::Condition& condition) {
  return condition.status == "True" &&
         std::find(kCoveredConditions.begin(), kCoveredConditions.end(), condition.type) == kCoveredConditions.end();
}

// Returns the names of the first `count` waves.  If there are more waves than the policy names, the last wave has all
// other nodes.
std::vector<std::string> WaveNames(const std::vector<api::RolloutWave>& waves, int count) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < static_cast<std::size_t>(std::clamp(count, 0, kMostWaveNames)); ++i) {
    if (i >= waves.size()) {
      names.emplace_back("all other nodes");
    } else {
      names.push_back(waves[i].name.empty() ? fmt::format("wave {}", i + 1) : waves[i].name);
    }
  }
  return names;
}

// Returns why a policy cannot be used, or an empty text.
std::string MistakesOf(const api::RolloutPolicy& policy) {
  for (const api::Condition& condition : policy.status.conditions) {
    if (condition.type == "Accepted" && condition.status == "False") return condition.message;
  }
  return "";
}

RolloutEntry RolloutEntryOf(const api::RolloutPolicy& policy, const std::string& pool) {
  RolloutEntry entry;
  entry.policy = policy.metadata.name;
  entry.mistakes = MistakesOf(policy);
  for (const api::RolloutPoolStatus& status : policy.status.pools) {
    if (status.name != pool) continue;
    entry.phase = status.phase;
    entry.message = status.message;
    if (status.since) entry.since = status.since->at;
    entry.wave = status.wave;
    entry.waves = WaveNames(policy.spec.waves, status.waves);
    entry.nodes = status.nodes;
    entry.updated = status.updated;
    if (status.opens) entry.window_opens = status.opens->at;
  }
  return entry;
}

PoolEntry PoolEntryOf(const PoolAndNodes& from, const MachineConfigNodes& machine_config_nodes) {
  const api::MachineConfigPool& pool = *from.pool;
  PoolEntry entry{.name = pool.metadata.name,
                  .target = pool.spec.configuration.name,
                  .is_paused = pool.spec.paused,
                  .conditions = {},
                  .nodes = {}};
  if (from.policy != nullptr) entry.rollout = RolloutEntryOf(*from.policy, entry.name);
  for (const api::Condition& condition : pool.status.conditions) {
    if (IsListed(condition)) entry.conditions.push_back({condition.type, condition.message});
  }
  for (const pool::NodeState& node : from.nodes) {
    entry.nodes.push_back(NodeEntryOf(node, machine_config_nodes, entry.target));
  }
  std::sort(entry.nodes.begin(), entry.nodes.end(),
            [](const NodeEntry& a, const NodeEntry& b) { return a.name < b.name; });
  return entry;
}

std::vector<Certificate> CertificatesOf(const api::ControllerConfig& config) {
  std::vector<Certificate> all;
  for (const api::ControllerCertificate& from : config.status.controller_certificates) {
    if (from.not_after) all.push_back({from.subject, from.bundle_file, from.not_after->at});
  }
  std::sort(all.begin(), all.end(), [](const Certificate& a, const Certificate& b) {
    return std::tie(a.until, a.bundle, a.subject) < std::tie(b.until, b.bundle, b.subject);
  });
  return all;
}

}  // namespace

std::string_view WordFor(Activity activity) {
  switch (activity) {
    case Activity::kDone:
      return "done";
    case Activity::kWaiting:
      return "waiting";
    case Activity::kDraining:
      return "draining";
    case Activity::kUpdating:
      return "updating";
    case Activity::kRebooting:
      return "rebooting";
    case Activity::kNotReady:
      return "not ready";
    case Activity::kDegraded:
      return "degraded";
  }
  return "";
}

std::string_view WordsFor(const RolloutEntry& rollout) {
  if (!rollout.mistakes.empty()) return "does not go on, because its policy cannot be used";
  if (rollout.phase.empty()) return "has no report from the controller yet";
  for (const auto& [phase, words] : kPhases) {
    if (phase == rollout.phase) return words;
  }
  return "does something that this version does not know";
}

std::size_t PoolEntry::CountOf(Activity activity) const {
  return static_cast<std::size_t>(std::count_if(
      nodes.begin(), nodes.end(), [activity](const NodeEntry& node) { return node.activity == activity; }));
}

std::size_t ClusterState::CountOf(Activity activity) const {
  std::size_t count = 0;
  for (const PoolEntry& pool : pools) count += pool.CountOf(activity);
  return count;
}

std::size_t ClusterState::node_count() const {
  std::size_t count = 0;
  for (const PoolEntry& pool : pools) count += pool.nodes.size();
  return count;
}

ClusterState StateOf(std::span<const PoolAndNodes> pools,
                     std::span<const api::MachineConfigNode* const> machine_config_nodes,
                     const api::ControllerConfig* controller_config) {
  MachineConfigNodes by_name;
  for (const api::MachineConfigNode* node : machine_config_nodes) by_name.emplace(node->metadata.name, node);
  ClusterState state;
  for (const PoolAndNodes& pool : pools) state.pools.push_back(PoolEntryOf(pool, by_name));
  if (controller_config != nullptr) state.certificates = CertificatesOf(*controller_config);
  return state;
}

}  // namespace pintle::dashboard
