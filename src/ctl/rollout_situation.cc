// SPDX-License-Identifier: Apache-2.0
#include "ctl/rollout_situation.h"

#include <fmt/core.h>

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

#include "api/annotations.h"
#include "pool/membership.h"
#include "pool/rollout_policy.h"

namespace pintle::ctl {
namespace {

using PoolPointers = std::vector<const api::MachineConfigPool*>;
using NodeStates = std::vector<pool::NodeState>;

// Returns a pool that every cluster has, with its usual node selector.  If the pool is not among the objects, this
// selector decides which nodes belong to the pool.
api::MachineConfigPool StandardPool(std::string_view name) {
  api::MachineConfigPool pool;
  pool.metadata.name = name;
  pool.spec.node_selector.emplace().match_labels.emplace(fmt::format("{}{}", api::kRoleLabelPrefix, name), "");
  return pool;
}

bool HasRole(const api::Node& node) {
  const auto& labels = node.metadata.labels;
  return std::any_of(labels.begin(), labels.end(),
                     [](const auto& label) { return label.first.starts_with(api::kRoleLabelPrefix); });
}

enum class NodesFrom { kCluster, kFile };

// Sorts a cluster's nodes into its pools.
class Memberships {
 public:
  // The pools are `pool`, those among the objects and the standard ones.  A node that is in no pool is left out.
  static Result<Memberships> Make(const api::MachineConfigPool& pool, const ClusterObjects& objects, NodesFrom from,
                                  std::vector<std::string>& warnings) {
    const api::MachineConfigPool standard[] = {StandardPool(api::kMasterPool), StandardPool(api::kWorkerPool)};
    PoolPointers all = {&pool};
    const auto add = [&](const api::MachineConfigPool& other) {
      const bool is_known = std::any_of(all.begin(), all.end(), [&](const api::MachineConfigPool* known) {
        return known->metadata.name == other.metadata.name;
      });
      if (!is_known) all.push_back(&other);
    };
    for (const auto& other : objects.pools) add(other);
    for (const auto& other : standard) add(other);

    const auto pools = TRY(pool::Pools::Make(all));
    Memberships memberships;
    for (const api::Node& node : objects.nodes) {
      const auto primary = pools.PrimaryOf(node);
      if (!primary) {
        warnings.push_back(primary.error().message());
        continue;
      }
      // In a file, a node without a role counts as a node of `pool`: somebody has listed the node for this pool.
      const bool counts_for_pool =
          from == NodesFrom::kFile && *primary == nullptr && !HasRole(node) && !pool::IsWindows(node);
      if (*primary == nullptr && !counts_for_pool) continue;
      memberships.nodes_.emplace_back(counts_for_pool ? pool.metadata.name : (*primary)->metadata.name, &node);
    }
    return memberships;
  }

  // Returns the nodes of a pool.
  NodeStates Of(std::string_view pool) const {
    NodeStates members;
    for (const auto& [name, node] : nodes_) {
      if (name == pool) members.emplace_back(*node);
    }
    return members;
  }

 private:
  std::vector<std::pair<std::string, const api::Node*>> nodes_;
};

// Returns the nodes of the pool.  If the pool selects none of them, all nodes of the file count as its nodes, because
// somebody may have written the file for this pool, without the labels of the nodes.
NodeStates NodesInFile(const api::MachineConfigPool& pool, const ClusterObjects& objects,
                       const Memberships& memberships, std::vector<std::string>& warnings) {
  NodeStates members = memberships.Of(pool.metadata.name);
  if (!members.empty() || objects.nodes.empty()) return members;
  warnings.push_back(
      fmt::format("pool {} selects no node; all nodes of the file count as its nodes", pool.metadata.name));
  for (const api::Node& node : objects.nodes) members.emplace_back(node);
  return members;
}

template <typename T>
std::vector<const T*> Pointers(const std::vector<T>& objects) {
  std::vector<const T*> pointers;
  pointers.reserve(objects.size());
  for (const T& object : objects) pointers.push_back(&object);
  return pointers;
}

std::size_t CountUnavailable(const NodeStates& nodes) { return pool::Unavailable(nodes).size(); }

pool::Layering LayeringOf(const api::MachineConfigPool& pool, const ClusterObjects& objects) {
  pool::Layering layering = pool::FindLayering(pool, objects.os_configs, objects.os_builds);
  if (layering.build == nullptr && objects.lone_os_build) layering.build = &*objects.lone_os_build;
  return layering;
}

// Returns the facts about the masters that decide whether arbiters have to wait for them.
std::optional<pool::Masters> MastersOf(const ClusterObjects& objects, const Memberships& memberships) {
  const api::MachineConfigPool* masters = PoolNamed(api::kMasterPool, objects);
  if (masters == nullptr) return std::nullopt;
  const NodeStates nodes = memberships.Of(api::kMasterPool);
  const pool::Rollout rollout = pool::Decide({.pool = *masters,
                                              .nodes = nodes,
                                              .machine_config_nodes = {},
                                              .layering = LayeringOf(*masters, objects),
                                              .features = {},
                                              .cert_expirys = {},
                                              .operator_node = {},
                                              .configs = {},
                                              .all_pools = {},
                                              .os_image_streams = {},
                                              .unavailable_arbiters = 0,
                                              .masters = {},
                                              .now = {}});
  return pool::Masters{.paused = masters->spec.paused,
                       .unavailable = rollout.unavailable.size(),
                       .candidates = rollout.candidates.nodes.size()};
}

}  // namespace

const api::MachineConfigPool* PoolNamed(std::string_view name, const ClusterObjects& objects) {
  const auto found = std::find_if(objects.pools.begin(), objects.pools.end(),
                                  [&](const auto& pool) { return pool.metadata.name == name; });
  return found == objects.pools.end() ? nullptr : &*found;
}

const api::RolloutPolicy* PolicyOf(const api::MachineConfigPool& pool, const ClusterObjects& objects) {
  return pool::ChoosePolicy(pool, Pointers(objects.rollout_policies)).policy;
}

const api::RolloutPoolStatus* PoolStatusIn(const api::RolloutPolicy& policy, std::string_view pool) {
  const auto& pools = policy.status.pools;
  const auto found = std::find_if(pools.begin(), pools.end(),
                                  [&](const api::RolloutPoolStatus& status) { return status.name == pool; });
  return found == pools.end() ? nullptr : &*found;
}

Result<> WithSituation(const RolloutQuestion& question, const api::MachineConfigPool& pool,
                       const ClusterObjects& objects, std::vector<std::string>& warnings,
                       const std::function<void(const pool::Situation&)>& decide) {
  const NodesFrom from = question.nodes_file.empty() ? NodesFrom::kCluster : NodesFrom::kFile;
  const Memberships memberships = TRY(Memberships::Make(pool, objects, from, warnings));
  const auto nodes =
      from == NodesFrom::kFile ? NodesInFile(pool, objects, memberships, warnings) : memberships.Of(pool.metadata.name);
  const auto machine_config_nodes = Pointers(objects.machine_config_nodes);
  const auto all_pools = Pointers(objects.pools);
  const bool has_arbiter = objects.control_plane_topology == pool::kArbiterTopology;
  const bool is_master = pool.metadata.name == api::kMasterPool;
  const bool is_arbiter = pool.metadata.name == api::kArbiterPool;
  decide({
      .pool = pool,
      .nodes = nodes,
      .machine_config_nodes = machine_config_nodes,
      .layering = LayeringOf(pool, objects),
      .features = pool::Features::Named(question.feature_gates),
      .cert_expirys = objects.cert_expirys,
      .operator_node = question.operator_node,
      .configs = objects.configs,
      .all_pools = all_pools,
      .os_image_streams = objects.os_image_streams,
      .unavailable_arbiters = has_arbiter && is_master ? CountUnavailable(memberships.Of(api::kArbiterPool)) : 0,
      .masters = has_arbiter && is_arbiter ? MastersOf(objects, memberships) : std::nullopt,
      .now = std::nullopt,
  });
  return {};
}

}  // namespace pintle::ctl
