// SPDX-License-Identifier: Apache-2.0
#pragma once

// Pools and nodes for tests.

#include <string>
#include <string_view>
#include <vector>

#include "api/annotations.h"
#include "api/machine_config_pool.h"
#include "api/node.h"
#include "json/fields.h"
#include "json/parse.h"
#include "pool/rollout.h"

namespace pintle::pool {

inline const std::string kOld = "rendered-worker-old";
inline const std::string kNew = "rendered-worker-new";

// Returns a ready worker between two configs.
inline api::Node NodeBetween(const std::string& name, const std::string& current, const std::string& desired,
                             std::string_view state) {
  api::Node node;
  node.metadata.name = name;
  node.metadata.labels.emplace(api::kWorkerRoleLabel, "");
  node.metadata.annotations.emplace(api::kCurrentConfigAnnotation, current);
  node.metadata.annotations.emplace(api::kDesiredConfigAnnotation, desired);
  node.metadata.annotations.emplace(api::kStateAnnotation, state);
  node.status.conditions.push_back({.type = "Ready", .status = "True"});
  return node;
}

// Returns a ready worker that has its desired config.
inline api::Node NodeAt(const std::string& name, const std::string& config) {
  return NodeBetween(name, config, config, api::kStateDone);
}

inline api::Node NotReady(api::Node node) {
  node.status.conditions = {{.type = "Ready", .status = "False"}};
  return node;
}

inline api::Node Cordoned(api::Node node) {
  node.spec.unschedulable = true;
  return node;
}

inline api::Node InZone(api::Node node, const std::string& zone) {
  node.metadata.labels.emplace(api::kZoneLabel, zone);
  return node;
}

inline api::Node CreatedAt(api::Node node, int second) {
  node.metadata.creation_timestamp = api::Time{WallTime(std::chrono::seconds(second))};
  return node;
}

inline api::Node Annotated(api::Node node, std::string_view key, const std::string& value) {
  node.metadata.annotations.insert_or_assign(std::string(key), value);
  return node;
}

inline api::MachineConfigPool PoolWith(const std::string& target, api::IntOrString max_unavailable = {1}) {
  api::MachineConfigPool pool;
  pool.metadata.name = "worker";
  pool.spec.node_selector.emplace().match_labels.emplace(api::kWorkerRoleLabel, "");
  pool.spec.configuration.name = target;
  pool.spec.max_unavailable = std::move(max_unavailable);
  pool.status.configuration.name = kOld;
  return pool;
}

inline std::vector<NodeState> States(const std::vector<api::Node>& nodes) {
  std::vector<NodeState> states;
  for (const api::Node& node : nodes) states.emplace_back(node);
  return states;
}

inline const KnownConfigs kNoConfigs;

// Returns a situation that has only the pool, its nodes and `configs`; everything else is empty.
inline Situation SituationOf(const api::MachineConfigPool& pool, std::span<const NodeState> nodes,
                             const KnownConfigs& configs = kNoConfigs) {
  return {.pool = pool,
          .nodes = nodes,
          .machine_config_nodes = {},
          .layering = {},
          .features = {},
          .cert_expirys = {},
          .operator_node = "",
          .configs = configs,
          .all_pools = {},
          .os_image_streams = {},
          .unavailable_arbiters = 0,
          .masters = {},
          .now = {}};
}

inline Rollout Decide(const api::MachineConfigPool& pool, const std::vector<api::Node>& nodes) {
  return Decide(SituationOf(pool, States(nodes)));
}

inline std::vector<std::string> Names(const std::vector<NodeUpdate>& updates) {
  std::vector<std::string> names;
  for (const NodeUpdate& update : updates) names.push_back(update.node);
  return names;
}

inline std::string PatchText(const NodePatch& patch) { return json::ToText(json::Encode(patch)); }

}  // namespace pintle::pool
