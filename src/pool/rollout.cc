// SPDX-License-Identifier: Apache-2.0
#include "pool/rollout.h"

#include <fmt/core.h>

#include <algorithm>
#include <string_view>
#include <unordered_set>
#include <utility>

#include "api/annotations.h"
#include "pool/max_unavailable.h"

namespace pintle::pool {
namespace {

// Returns why no node of the pool may be updated, or an empty text if nodes may be.
std::string WhyHeld(const Situation& situation, const std::optional<ImageReadiness>& image) {
  const api::MachineConfigPool& pool = situation.pool;
  if (pool.spec.configuration.name.empty()) return "nothing is rendered for the pool yet";
  if (pool.spec.node_selector && pool.spec.node_selector->is_empty()) {
    return "This machineconfigpool is selecting all nodes. A non-empty selector is required.";
  }
  if (pool.metadata.deletion_timestamp) return "the pool is being deleted";
  if (pool.spec.paused) return "the pool is paused";
  if (image && !image->can_apply) return image->reason;
  if (situation.masters) return WhyArbitersWait(*situation.masters).value_or("");
  return "";
}

// Returns labels that make the pool's selector match a node.  Only terms that require one label are considered.
api::Labels LabelsSelectedBy(const api::MachineConfigPool& pool) {
  api::Labels labels;
  if (!pool.spec.node_selector) return labels;
  labels = pool.spec.node_selector->match_labels;
  for (const api::LabelSelectorRequirement& expression : pool.spec.node_selector->match_expressions) {
    if (expression.op == "In" && expression.values.size() == 1) labels.emplace(expression.key, expression.values[0]);
    if (expression.op == "Exists") labels.emplace(expression.key, "");
  }
  return labels;
}

// Decides which nodes are updated, in the same steps as the Machine Config Operator.
class UpdateChooser {
 public:
  UpdateChooser(const Situation& situation, const Target& target)
      : situation_(situation), nodes_(situation.nodes), target_(target) {}

  // Chooses nodes within the capacity, and gives labels to nodes that have to join a custom pool.
  std::vector<NodeUpdate> Choose(const Candidates& candidates) const {
    std::vector<NodeUpdate> updates;
    NodeIndices chosen = candidates.nodes;
    std::erase_if(chosen, [&](std::size_t i) { return !IsAdmitted(i) && CustomPoolToJoin(nodes_[i]) == nullptr; });
    DeferOperatorNode(chosen);
    AddToCustomPools(chosen, updates);
    const NodeNames none;
    const NodeNames& undrainable = situation_.undrainable == nullptr ? none : *situation_.undrainable;
    AssignTarget(PickFirst(nodes_, std::move(chosen), candidates.capacity, undrainable), updates);
    return updates;
  }

  // Chooses the nodes of FindUnavailableToUpdate(), which need no capacity.  Leaves out those in `updates`, those that
  // are not admitted, and those that have to join a custom pool.
  std::vector<NodeUpdate> ChooseUnavailable(const std::vector<NodeUpdate>& updates) const {
    std::unordered_set<std::string_view> names;
    for (const NodeUpdate& update : updates) names.insert(update.node);
    NodeIndices chosen = FindUnavailableToUpdate(target_, nodes_);
    std::erase_if(chosen, [&](std::size_t i) {
      return names.contains(nodes_[i].name()) || CustomPoolToJoin(nodes_[i]) != nullptr || !IsAdmitted(i);
    });
    std::vector<NodeUpdate> updates_of_unavailable;
    AssignTarget(chosen, updates_of_unavailable);
    return updates_of_unavailable;
  }

 private:
  static void Add(const NodeState& node, NodePatch patch, std::vector<NodeUpdate>& updates) {
    if (!patch.is_empty()) updates.push_back({node.name(), std::move(patch)});
  }

  void AssignTarget(const NodeIndices& chosen, std::vector<NodeUpdate>& updates) const {
    for (const std::size_t i : chosen) Add(nodes_[i], target_.PatchFor(nodes_[i]), updates);
  }

  bool IsAdmitted(std::size_t i) const { return situation_.admission == nullptr || situation_.admission->nodes[i]; }

  // The operator's pod moves to another master when its own node is drained.  That node is updated last, so that the
  // pod moves only once.
  void DeferOperatorNode(NodeIndices& chosen) const {
    if (situation_.pool.metadata.name != api::kMasterPool || chosen.size() <= 1) return;
    std::erase_if(chosen, [&](std::size_t i) { return nodes_[i].name() == situation_.operator_node; });
  }

  // A machine that first booted with the config of a custom pool joins the cluster as a worker.  It is given the labels
  // of the custom pool once, instead of this pool's target.
  void AddToCustomPools(NodeIndices& chosen, std::vector<NodeUpdate>& updates) const {
    std::erase_if(chosen, [&](std::size_t i) {
      const api::MachineConfigPool* pool = CustomPoolToJoin(nodes_[i]);
      if (pool == nullptr) return false;
      Add(nodes_[i], LabelsPatch(nodes_[i], *pool), updates);
      return true;
    });
  }

  // Returns the custom pool whose labels a node has still to be given, or nullptr.
  const api::MachineConfigPool* CustomPoolToJoin(const NodeState& node) const {
    if (node.has_custom_pool_labels() || !node.first_pivot_config()) return nullptr;
    const auto config = situation_.configs.find(*node.first_pivot_config());
    if (config == situation_.configs.end() || config->second.owner.empty()) return nullptr;
    const std::string& owner = config->second.owner;
    if (owner == api::kMasterPool || owner == api::kWorkerPool) return nullptr;
    if (owner == situation_.pool.metadata.name) return &situation_.pool;
    const auto& pools = situation_.all_pools;
    const auto pool = std::find_if(pools.begin(), pools.end(),
                                   [&](const api::MachineConfigPool* other) { return other->metadata.name == owner; });
    return pool == pools.end() ? nullptr : *pool;
  }

  // Returns the patch that gives a node the labels of a custom pool, and records that the node has got them.
  static NodePatch LabelsPatch(const NodeState& node, const api::MachineConfigPool& pool) {
    NodePatch patch;
    const api::Labels labels = LabelsSelectedBy(pool);
    if (labels.empty()) return patch;
    for (const auto& [label, value] : labels) {
      const std::string* current = api::Find(node.node().metadata.labels, label);
      if (current == nullptr || *current != value) patch.metadata.labels.emplace(label, value);
    }
    patch.metadata.annotations.emplace(api::kCustomPoolLabelsAppliedAnnotation, "");
    return patch;
  }

  const Situation& situation_;
  std::span<const NodeState> nodes_;
  const Target& target_;
};

}  // namespace

Headroom HeadroomOf(const Situation& situation) {
  Headroom headroom;
  std::optional<ImageReadiness> image;
  if (situation.layering.is_layered()) image = CheckImage(situation.layering);
  headroom.hold_reason = WhyHeld(situation, image);
  if (const auto most = MaxUnavailable(situation.pool, situation.nodes.size())) {
    const Target target(situation.pool, situation.layering);
    headroom.capacity =
        FindCandidates(target, situation.nodes, MasterBudget(*most, situation.unavailable_arbiters)).capacity;
  }
  return headroom;
}

Rollout Decide(const Situation& situation) {
  const std::span<const NodeState> nodes = situation.nodes;
  const Target target(situation.pool, situation.layering);

  Rollout rollout;
  for (const std::size_t i : Unavailable(nodes)) rollout.unavailable.push_back(nodes[i].name());
  if (situation.layering.is_layered()) rollout.image = CheckImage(situation.layering);
  rollout.hold_reason = WhyHeld(situation, rollout.image);

  if (const auto most = MaxUnavailable(situation.pool, nodes.size())) {
    rollout.max_unavailable = MasterBudget(*most, situation.unavailable_arbiters);
    rollout.candidates = FindCandidates(target, nodes, *rollout.max_unavailable);
    const Admission* const admission = situation.admission;
    if (admission != nullptr && admission->capacity) {
      rollout.candidates.capacity = std::min(rollout.candidates.capacity, *admission->capacity);
    }
  } else {
    rollout.max_unavailable_error = most.error().message();
  }
  if (rollout.hold_reason.empty() && rollout.max_unavailable) {
    const UpdateChooser chooser(situation, target);
    rollout.updates = chooser.Choose(rollout.candidates);
    rollout.updates_of_unavailable = chooser.ChooseUnavailable(rollout.updates);
  }

  rollout.status = Status({.pool = situation.pool,
                           .nodes = nodes,
                           .machine_config_nodes = situation.machine_config_nodes,
                           .layering = situation.layering,
                           .features = situation.features,
                           .cert_expirys = situation.cert_expirys,
                           .configs = situation.configs,
                           .os_image_streams = situation.os_image_streams,
                           .now = situation.now});
  return rollout;
}

}  // namespace pintle::pool
