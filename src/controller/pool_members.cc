// SPDX-License-Identifier: Apache-2.0
#include "controller/pool_members.h"

#include <fmt/core.h>

#include <cstddef>
#include <map>
#include <utility>

#include "api/label_selector.h"
#include "controller/reasons.h"
#include "pool/membership.h"

namespace pintle::controller {
namespace {

using PoolPointers = std::vector<const api::MachineConfigPool*>;

// Finds a mistake in the spec of one pool, without regard to nodes or other pools.
std::optional<Mistake> MistakeOf(const api::MachineConfigPool& pool) {
  const auto& selector = pool.spec.node_selector;
  if (selector && selector->is_empty()) {
    return Mistake{"SelectingAll", "This machineconfigpool is selecting all nodes. A non-empty selector is required."};
  }
  const auto compiled = api::Selector::Compile(selector);
  if (compiled) return std::nullopt;
  return Mistake{"InvalidNodeSelector", fmt::format("spec.nodeSelector selects no nodes until it is corrected: {}",
                                                    compiled.error().message())};
}

// Collects the nodes that several custom pools select, and reports them in each of these pools.
class NodesInSeveralPools {
 public:
  void Add(const PoolPointers& pools, const std::string& message) {
    for (const api::MachineConfigPool* pool : pools) {
      Nodes& nodes = by_pool_[pool->metadata.name];
      if (++nodes.count > kMostReported) continue;
      AddReason(message, nodes.messages);
    }
  }

  void ReportIn(PoolMembers& members) const {
    for (const auto& [pool, nodes] : by_pool_) {
      const auto [mistake, is_first] = members.mistakes.try_emplace(pool);
      if (is_first) mistake->second.reason = "NodesInSeveralPools";
      std::string& message = mistake->second.message;
      AddReason(nodes.messages, message);
      if (nodes.count > kMostReported) {
        message += fmt::format("; and {} more in several custom roles", nodes.count - kMostReported);
      }
    }
  }

 private:
  // Each pool can have thousands of such nodes, and its status has to stay small.
  static constexpr std::size_t kMostReported = 5;

  struct Nodes {
    std::size_t count = 0;
    std::string messages;
  };

  std::map<std::string, Nodes> by_pool_;
};

}  // namespace

const std::vector<pool::NodeState>& PoolMembers::Of(std::string_view pool) const {
  static const std::vector<pool::NodeState> kNone;
  const auto found = nodes.find(pool);
  return found == nodes.end() ? kNone : found->second;
}

PoolMembers MakePoolMembers(const View& view) {
  PoolMembers members;
  PoolPointers usable;
  for (const api::MachineConfigPool* pool : view.pools) {
    // The nodes of a held pool must not be updated, because something about the pool cannot be read.
    const auto held = view.held_pools.find(pool->metadata.name);
    if (held != view.held_pools.end()) {
      members.mistakes.emplace(pool->metadata.name,
                               Mistake{"Unreadable", "no node is updated until this is corrected: " + held->second});
    }
    if (auto mistake = MistakeOf(*pool)) {
      members.mistakes.emplace(pool->metadata.name, *std::move(mistake));
    } else {
      usable.push_back(pool);
    }
  }
  const auto pools = pool::Pools::Make(usable);
  if (!pools) return members;  // This cannot happen, since MistakeOf() has compiled each selector.
  NodesInSeveralPools in_several;
  for (const api::Node* node : view.nodes) {
    const pool::SelectingPools selecting = pools->Selecting(*node);
    const auto all = pool::InOrder(selecting, *node);
    if (!all) {
      in_several.Add(selecting.custom, all.error().message());
    } else if (!all->empty()) {
      const std::string& primary = all->front()->metadata.name;
      members.nodes[primary].emplace_back(*node);
      const bool is_in_custom_pool = primary == api::kMasterPool && !selecting.custom.empty();
      if (is_in_custom_pool) members.masters_wanted_elsewhere.push_back(node->metadata.name);
    } else if (!pool::IsWindows(*node)) {
      members.in_no_pool.push_back(node);
    }
  }
  in_several.ReportIn(members);
  for (const PartialObject<api::Node>& node : view.unreadable_nodes) {
    const auto all = pools->Of(*node.object);
    if (!all || all->empty()) continue;
    members.mistakes.try_emplace(
        all->front()->metadata.name,
        Mistake{"UnreadableNode", "a node is left out, because it cannot be read: " + node.why});
  }
  return members;
}

}  // namespace pintle::controller
