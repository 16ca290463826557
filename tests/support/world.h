// SPDX-License-Identifier: Apache-2.0
#pragma once

// A small cluster for tests of the controller's passes: it makes the view that a pass reads, and applies the changes
// that the pass returns.

#include <map>
#include <string>
#include <string_view>

#include "api/annotations.h"
#include "controller/changes.h"
#include "controller/pool_members.h"
#include "controller/rollout_pass.h"
#include "controller/view.h"
#include "pool/status.h"

namespace pintle::controller {

struct World {
  std::map<std::string, api::MachineConfigPool> pools;
  std::map<std::string, api::Node> nodes;
  std::map<std::string, api::MachineConfigNode> reports;
  std::map<std::string, api::MachineConfig> configs;
  api::ControllerConfig controller_config;
  std::optional<pool::MasterScheduling> scheduling;
  std::string operator_node;
  // These inputs of a pass do not come from the cluster; View and RolloutInputs explain them.
  Verdicts verdicts;
  std::map<std::string, std::string, std::less<>> held_pools;
  std::string why_unread;
  pool::NodeNames skipped;
  pool::NodeNames undrainable;
  pool::NodeNames awaited;
  PoolPolicies policies;
  int version = 1;

  // Returns the cluster as a pass reads it; the view has pointers into this object.
  View Look() const {
    View view;
    for (const auto& [name, pool] : pools) view.pools.push_back(&pool);
    for (const auto& [name, node] : nodes) view.nodes.push_back(&node);
    for (const auto& [name, report] : reports) view.machine_config_nodes.push_back(&report);
    for (const auto& [name, config] : configs) view.configs.push_back(&config);
    view.controller_config = &controller_config;
    view.master_scheduling = scheduling;
    view.operator_node = operator_node;
    view.held_pools = held_pools;
    return view;
  }

  // Returns the changes that a pass wants now.
  Changes Pass() const {
    const View view = Look();
    const PoolMembers members = MakePoolMembers(view);
    return RolloutPass({.view = view,
                        .members = members,
                        .verdicts = verdicts,
                        .skipped = skipped,
                        .undrainable = undrainable,
                        .features = {},
                        .now = api::Time{WallTime(std::chrono::seconds(version))},
                        .awaited = &awaited,
                        .policies = &policies,
                        .why_unread = why_unread});
  }

  // Applies a change to the cluster, as the API server does.
  void Apply(const NodeChange& change) {
    api::Node& node = nodes.at(change.node);
    node = Patched(std::move(node), change.patch);
    node.metadata.resource_version = std::to_string(++version);
  }
  void Apply(const Changes& changes) {
    for (const NodeChange& change : changes.nodes) Apply(change);
    for (const StatusChange& change : changes.statuses) pools.at(change.pool).status = change.status;
    for (const MachineConfigNodeChange& change : changes.machine_config_nodes) {
      reports.at(change.node).spec = change.spec;
    }
  }
  // Runs passes until a pass returns no change; returns the number of passes with changes.
  int Settle() {
    for (int passes = 0;; ++passes) {
      const Changes changes = Pass();
      if (changes.is_empty() || passes == 10) return passes;
      Apply(changes);
    }
  }

  api::MachineConfigPool& AddPool(const std::string& name, const std::string& target) {
    api::MachineConfigPool& pool = pools[name];
    pool.metadata.name = name;
    pool.metadata.uid = "uid-of-" + name;
    pool.spec.node_selector.emplace().match_labels.emplace(std::string(api::kRoleLabelPrefix) + name, "");
    pool.spec.configuration.name = target;
    return pool;
  }
  api::Node& AddNode(const std::string& name, const std::string& role, const std::string& config) {
    api::Node& node = nodes[name];
    node.metadata.name = name;
    node.metadata.resource_version = std::to_string(++version);
    node.metadata.creation_timestamp = api::Time{WallTime(std::chrono::seconds(version))};
    node.metadata.labels.emplace(std::string(api::kRoleLabelPrefix) + role, "");
    Annotate(name, api::kCurrentConfigAnnotation, config);
    Annotate(name, api::kDesiredConfigAnnotation, config);
    Annotate(name, api::kStateAnnotation, std::string(api::kStateDone));
    node.status.conditions = {{.type = "Ready", .status = "True"}};
    return node;
  }
  void Annotate(const std::string& node, std::string_view key, const std::string& value) {
    nodes.at(node).metadata.annotations.insert_or_assign(std::string(key), value);
  }
  // Returns "" if the node does not have the annotation.
  const std::string& AnnotationOf(const std::string& node, std::string_view key) const {
    return nodes.at(node).metadata.Annotation(key);
  }
  // Returns null if the pool does not have a condition of this type.
  const api::Condition* ConditionOf(const std::string& pool, std::string_view type) const {
    for (const api::Condition& condition : pools.at(pool).status.conditions) {
      if (condition.type == type) return &condition;
    }
    return nullptr;
  }
};

}  // namespace pintle::controller
