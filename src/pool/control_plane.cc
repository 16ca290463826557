// SPDX-License-Identifier: Apache-2.0
#include "pool/control_plane.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "api/annotations.h"

namespace pintle::pool {
namespace {

constexpr std::string_view kNoSchedule = "NoSchedule";

bool IsTaint(const api::Taint& taint, std::string_view key, std::string_view effect) {
  return taint.key == key && taint.effect == effect;
}

bool HasTaint(const api::Node& node, std::string_view key, std::string_view effect) {
  const auto& taints = node.spec.taints;
  return std::any_of(taints.begin(), taints.end(),
                     [&](const api::Taint& taint) { return IsTaint(taint, key, effect); });
}

void AddTaint(NodePatch& patch, const api::Node& node, std::string_view key, std::string_view effect) {
  std::vector<api::Taint> taints = node.spec.taints;
  taints.push_back({.key = std::string(key), .value = "", .effect = std::string(effect), .time_added = std::nullopt});
  patch.spec = {.taints = std::move(taints)};
}

template <typename Predicate>
void RemoveTaints(NodePatch& patch, const api::Node& node, Predicate&& predicate) {
  std::vector<api::Taint> taints = node.spec.taints;
  if (std::erase_if(taints, predicate) > 0) patch.spec = {.taints = std::move(taints)};
}

// Adds the label with an empty value, unless the node has it.
void EnsureLabel(NodePatch& patch, const api::Node& node, std::string_view label) {
  const std::string* value = api::Find(node.metadata.labels, label);
  if (value == nullptr || !value->empty()) patch.metadata.labels.emplace(label, "");
}

}  // namespace

int MasterBudget(int max_unavailable, std::size_t unavailable_arbiters) {
  return unavailable_arbiters > 0 ? 0 : max_unavailable;
}

std::optional<std::string> WhyArbitersWait(const Masters& masters) {
  if (masters.paused) {
    if (masters.unavailable == 0) return std::nullopt;
    return fmt::format(
        "master pool is paused with {} unavailable master node(s); deferring arbiter updates to preserve etcd quorum",
        masters.unavailable);
  }
  const std::size_t busy = masters.unavailable + masters.candidates;
  if (busy == 0) return std::nullopt;
  return fmt::format("deferring arbiter updates until {} master node(s) complete their updates", busy);
}

NodePatch MasterRolePatch(const api::Node& master, MasterScheduling scheduling) {
  NodePatch patch;
  EnsureLabel(patch, master, api::kControlPlaneRoleLabel);
  if (scheduling == MasterScheduling::kEveryPod) {
    EnsureLabel(patch, master, api::kWorkerRoleLabel);
    RemoveTaints(patch, master, [](const api::Taint& taint) {
      return IsTaint(taint, api::kMasterRoleLabel, kNoSchedule) ||
             IsTaint(taint, api::kControlPlaneRoleLabel, kNoSchedule);
    });
    return patch;
  }
  if (api::Find(master.metadata.labels, api::kWorkerRoleLabel) != nullptr) {
    patch.metadata.labels.emplace(api::kWorkerRoleLabel, std::nullopt);
  }
  if (!HasTaint(master, api::kMasterRoleLabel, kNoSchedule)) {
    AddTaint(patch, master, api::kMasterRoleLabel, kNoSchedule);
  }
  return patch;
}

NodePatch UpdateInProgressPatch(const NodeState& node, const Target& target) {
  NodePatch patch;
  const bool has_taint = HasTaint(node.node(), api::kUpdateInProgressTaint, api::kPreferNoSchedule);
  if (!target.MayLoseUpdateTaint(node)) {
    if (!has_taint) AddTaint(patch, node.node(), api::kUpdateInProgressTaint, api::kPreferNoSchedule);
  } else if (has_taint) {
    RemoveTaints(patch, node.node(), [](const api::Taint& taint) {
      return IsTaint(taint, api::kUpdateInProgressTaint, api::kPreferNoSchedule);
    });
  }
  return patch;
}

}  // namespace pintle::pool
