// SPDX-License-Identifier: Apache-2.0
#include "controller/pool_members.h"

#include <fmt/core.h>

#include <utility>

#include "api/label_selector.h"
#include "pool/membership.h"

namespace pintle::controller {
namespace {

using PoolPointers = std::vector<const api::MachineConfigPool*>;

// Returns whether the pool is neither the pool of the masters nor the pool of the workers.
bool IsCustom(const api::MachineConfigPool& pool) {
  return pool.metadata.name != api::kMasterPool && pool.metadata.name != api::kWorkerPool;
}

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

// Returns the custom pools that select a node.
PoolPointers CustomPoolsOf(const api::Node& node, const PoolPointers& pools) {
  PoolPointers custom;
  for (const api::MachineConfigPool* pool : pools) {
    const auto selector = api::Selector::Compile(pool->spec.node_selector);
    const bool can_select = IsCustom(*pool) && pool->spec.node_selector && !pool->spec.node_selector->is_empty();
    if (can_select && selector && selector->Matches(node.metadata.labels)) custom.push_back(pool);
  }
  return custom;
}

void AddMistakeToAll(const PoolPointers& pools, const std::string& message, PoolMembers& members) {
  for (const api::MachineConfigPool* pool : pools) {
    const auto [mistake, is_first] = members.mistakes.try_emplace(pool->metadata.name);
    if (is_first) mistake->second.reason = "NodesInSeveralPools";
    mistake->second.message += (is_first ? "" : "; ") + message;
  }
}

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
  for (const api::Node* node : view.nodes) {
    const auto all = pools->Of(*node);
    if (!all) {
      AddMistakeToAll(CustomPoolsOf(*node, usable), all.error().message(), members);
    } else if (!all->empty()) {
      const std::string& primary = all->front()->metadata.name;
      members.nodes[primary].emplace_back(*node);
      const bool is_in_custom_pool = primary == api::kMasterPool && !CustomPoolsOf(*node, usable).empty();
      if (is_in_custom_pool) members.masters_wanted_elsewhere.push_back(node->metadata.name);
    } else if (!pool::IsWindows(*node)) {
      members.in_no_pool.push_back(node);
    }
  }
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
