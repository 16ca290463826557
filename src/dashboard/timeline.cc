// SPDX-License-Identifier: Apache-2.0
#include "dashboard/timeline.h"

#include <fmt/core.h>

#include <map>
#include <string_view>
#include <utility>

#include "base/printable.h"

namespace pintle::dashboard {
namespace {

// A timeline has at most this many entries.
constexpr std::size_t kMostEntries = 200;
// A longer explanation of a node is cut off.  The details of the node have the whole explanation.
constexpr std::size_t kLongestReason = 300;  // In bytes.

struct PlacedNode {
  const PoolEntry* pool;
  const NodeEntry* node;
};

std::map<std::string_view, PlacedNode> NodesOf(const ClusterState& state) {
  std::map<std::string_view, PlacedNode> nodes;
  for (const PoolEntry& pool : state.pools) {
    for (const NodeEntry& node : pool.nodes) nodes.emplace(node.name, PlacedNode{&pool, &node});
  }
  return nodes;
}

std::string ActivityText(const NodeEntry& node) {
  std::string text = fmt::format("{}: {}", node.name, WordFor(node.activity));
  const bool has_reason = node.activity == Activity::kDegraded || node.activity == Activity::kNotReady;
  if (has_reason && !node.explanation.empty()) text += ", " + Shortened(node.explanation, kLongestReason);
  return text;
}

void AddPoolDifferences(const PoolEntry& before, const PoolEntry& after, std::vector<std::string>& texts) {
  if (before.target != after.target) texts.push_back(fmt::format("pool {}: new target {}", after.name, after.target));
  if (before.is_paused != after.is_paused) {
    texts.push_back(fmt::format("pool {}: {}", after.name, after.is_paused ? "paused" : "no longer paused"));
  }
  const auto step = [](const std::optional<RolloutEntry>& rollout) {
    if (!rollout) return std::string();
    const std::string wave =
        rollout->waves.empty() ? "" : fmt::format("wave {} of {}, ", rollout->wave, rollout->waves.size());
    return fmt::format("{}the rollout {}", wave, WordsFor(*rollout));
  };
  if (after.rollout && step(before.rollout) != step(after.rollout)) {
    texts.push_back(fmt::format("pool {}: {}", after.name, step(after.rollout)));
  }
}

void AddNodeDifferences(const ClusterState& before, const ClusterState& after, std::vector<std::string>& texts) {
  auto old_nodes = NodesOf(before);
  for (const auto& [name, now] : NodesOf(after)) {
    const auto old = old_nodes.find(name);
    if (old == old_nodes.end()) {
      texts.push_back(fmt::format("{}: new in pool {}", name, now.pool->name));
      continue;
    }
    if (old->second.pool->name != now.pool->name)
      texts.push_back(fmt::format("{}: now in pool {}", name, now.pool->name));
    if (old->second.node->activity != now.node->activity) texts.push_back(ActivityText(*now.node));
    old_nodes.erase(old);
  }
  for (const auto& [name, gone] : old_nodes) texts.push_back(fmt::format("{}: in no pool any more", name));
}

}  // namespace

std::vector<std::string> DifferencesOf(const ClusterState& before, const ClusterState& after) {
  std::vector<std::string> texts;
  std::map<std::string_view, const PoolEntry*> old_pools;
  for (const PoolEntry& pool : before.pools) old_pools.emplace(pool.name, &pool);
  for (const PoolEntry& pool : after.pools) {
    const auto old = old_pools.find(pool.name);
    if (old == old_pools.end()) {
      texts.push_back(fmt::format("pool {}: new", pool.name));
      continue;
    }
    AddPoolDifferences(*old->second, pool, texts);
    old_pools.erase(old);
  }
  for (const auto& [name, gone] : old_pools) texts.push_back(fmt::format("pool {}: removed", name));
  AddNodeDifferences(before, after, texts);
  return texts;
}

void AddTo(std::vector<Happening>& timeline, WallTime now, std::vector<std::string> texts) {
  for (std::string& text : texts) timeline.push_back({now, std::move(text)});
  if (timeline.size() > kMostEntries) {
    timeline.erase(timeline.begin(), timeline.end() - static_cast<std::ptrdiff_t>(kMostEntries));
  }
}

}  // namespace pintle::dashboard
