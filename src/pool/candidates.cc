// SPDX-License-Identifier: Apache-2.0
#include "pool/candidates.h"

#include <algorithm>
#include <utility>

namespace pintle::pool {
namespace {

template <typename Predicate>
NodeIndices IndicesWhere(std::span<const NodeState> nodes, Predicate&& predicate) {
  NodeIndices found;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (predicate(nodes[i])) found.push_back(i);
  }
  return found;
}

// Orders nodes by zone, and within a zone by age.
bool ComesBefore(const NodeState& a, const NodeState& b) {
  if (a.zone().has_value() != b.zone().has_value()) return a.zone().has_value();
  if (a.zone() != b.zone()) return a.zone() < b.zone();
  return a.node().metadata.creation_timestamp < b.node().metadata.creation_timestamp;
}

// Returns whether the node is unavailable only because somebody cordoned it.
bool IsOnlyCordoned(const NodeState& node) {
  return node.is_done() && node.node().spec.unschedulable && node.is_ready_uncordoned();
}

}  // namespace

NodeIndices Unavailable(std::span<const NodeState> nodes) {
  return IndicesWhere(nodes, [](const NodeState& node) { return node.is_unavailable(); });
}

Candidates FindCandidates(const Target& target, std::span<const NodeState> nodes, int max_unavailable) {
  const auto count_if = [&](auto&& predicate) { return std::count_if(nodes.begin(), nodes.end(), predicate); };
  const auto unavailable = count_if([](const NodeState& node) { return node.is_unavailable(); });
  const auto failing = count_if([&](const NodeState& node) { return node.is_failing() && target.IsAssignedTo(node); });
  const auto capacity = max_unavailable - unavailable - failing;
  if (capacity <= 0) return {};
  return {.nodes =
              IndicesWhere(nodes, [&](const NodeState& node) { return node.is_ready() && !target.IsAssignedTo(node); }),
          .capacity = static_cast<int>(capacity)};
}

NodeIndices PickFirst(std::span<const NodeState> nodes, NodeIndices candidates, int capacity,
                      const NodeNames& undrainable) {
  const auto count = static_cast<std::size_t>(std::max(capacity, 0));
  if (count >= candidates.size()) return candidates;
  std::stable_sort(candidates.begin(), candidates.end(),
                   [&](std::size_t a, std::size_t b) { return ComesBefore(nodes[a], nodes[b]); });
  std::stable_partition(candidates.begin(), candidates.end(),
                        [&](std::size_t i) { return !undrainable.contains(nodes[i].name()); });
  candidates.resize(count);
  return candidates;
}

NodeIndices FindUnavailableToUpdate(const Target& target, std::span<const NodeState> nodes) {
  return IndicesWhere(nodes, [&](const NodeState& node) {
    return node.is_unavailable() && !target.IsAssignedTo(node) && !IsOnlyCordoned(node);
  });
}

}  // namespace pintle::pool
