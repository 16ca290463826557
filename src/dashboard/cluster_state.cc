// SPDX-License-Identifier: Apache-2.0
#include "dashboard/cluster_state.h"

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

// These conditions are no notices: the page has their contents in another place, or they belong to a normal build of an
// image.
constexpr auto kCoveredConditions = std::to_array<std::string_view>(
    {"Updated", "Updating", "Degraded", "NodeDegraded", "BuildPending", "Building", "BuildSuccess"});

bool IsRebooting(const api::Node& node) {
  return node.metadata.Annotation(api::kStateAnnotation) == api::kStateRebooting;
}

Stage StageOf(const pool::NodeState& node, const drain::View& drain, std::string_view target) {
  if (node.is_degraded()) return Stage::kDegraded;
  if (drain.asked && drain.asked->verb == drain::Verb::kDrain) return Stage::kDraining;
  if (IsRebooting(node.node())) return Stage::kRebooting;
  if (!node.is_done()) return Stage::kUpdating;
  if (!node.is_ready()) return Stage::kNotReady;
  return node.current_config() == target ? Stage::kDone : Stage::kWaiting;
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

NodeEntry EntryOf(const pool::NodeState& node, const MachineConfigNodes& machine_config_nodes,
                  std::string_view target) {
  const drain::View drain = drain::ViewOf(node.node());
  NodeEntry entry{.name = node.name(),
                  .stage = StageOf(node, drain, target),
                  .config = std::string(node.current_config()),
                  .desired_config = std::string(node.desired_config()),
                  .explanation = {},
                  .drain_began = {}};
  if (entry.stage == Stage::kDegraded) entry.explanation = node.reason();
  if (entry.stage == Stage::kNotReady) entry.explanation = pool::WhyNotReady(node.node()).value_or("");
  if (entry.stage == Stage::kDraining) {
    entry.explanation = WhatDrainAwaits(machine_config_nodes, node.name());
    entry.drain_began = drain.started;
  }
  return entry;
}

bool IsNotice(const api::Condition& condition) {
  return condition.status == "True" &&
         std::find(kCoveredConditions.begin(), kCoveredConditions.end(), condition.type) == kCoveredConditions.end();
}

PoolEntry EntryOf(const PoolAndNodes& from, const MachineConfigNodes& machine_config_nodes) {
  const api::MachineConfigPool& pool = *from.pool;
  PoolEntry entry{.name = pool.metadata.name,
                  .target = pool.spec.configuration.name,
                  .is_paused = pool.spec.paused,
                  .notices = {},
                  .nodes = {}};
  for (const api::Condition& condition : pool.status.conditions) {
    if (IsNotice(condition)) entry.notices.push_back({condition.type, condition.message});
  }
  for (const pool::NodeState& node : from.nodes) {
    entry.nodes.push_back(EntryOf(node, machine_config_nodes, entry.target));
  }
  std::sort(entry.nodes.begin(), entry.nodes.end(),
            [](const NodeEntry& a, const NodeEntry& b) { return a.name < b.name; });
  return entry;
}

std::vector<Certificate> CertificatesOf(const api::ControllerConfig& config) {
  std::vector<Certificate> all;
  for (const api::ControllerCertificate& one : config.status.controller_certificates) {
    if (one.not_after) all.push_back({one.subject, one.bundle_file, one.not_after->at});
  }
  std::sort(all.begin(), all.end(), [](const Certificate& a, const Certificate& b) {
    return std::tie(a.until, a.bundle, a.subject) < std::tie(b.until, b.bundle, b.subject);
  });
  return all;
}

}  // namespace

std::string_view WordFor(Stage stage) {
  switch (stage) {
    case Stage::kDone:
      return "done";
    case Stage::kWaiting:
      return "waiting";
    case Stage::kDraining:
      return "draining";
    case Stage::kUpdating:
      return "updating";
    case Stage::kRebooting:
      return "rebooting";
    case Stage::kNotReady:
      return "not ready";
    case Stage::kDegraded:
      return "degraded";
  }
  return "";
}

std::size_t PoolEntry::CountOf(Stage stage) const {
  return static_cast<std::size_t>(
      std::count_if(nodes.begin(), nodes.end(), [stage](const NodeEntry& node) { return node.stage == stage; }));
}

std::size_t ClusterState::CountOf(Stage stage) const {
  std::size_t count = 0;
  for (const PoolEntry& pool : pools) count += pool.CountOf(stage);
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
  for (const PoolAndNodes& pool : pools) state.pools.push_back(EntryOf(pool, by_name));
  if (controller_config != nullptr) state.certificates = CertificatesOf(*controller_config);
  return state;
}

}  // namespace pintle::dashboard
