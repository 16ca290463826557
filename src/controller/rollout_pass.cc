// SPDX-License-Identifier: Apache-2.0
#include "controller/rollout_pass.h"

#include <fmt/core.h>

#include <algorithm>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "api/annotations.h"
#include "api/conditions.h"
#include "controller/files_wait.h"
#include "controller/reasons.h"
#include "drain/settings.h"
#include "json/field_list.h"
#include "pool/cert_expirys.h"
#include "pool/control_plane.h"
#include "pool/layering.h"
#include "pool/max_unavailable.h"
#include "pool/membership.h"

namespace pintle::controller {
namespace {

using pool::NodePatch;
using pool::NodeState;
using NodesByName = std::map<std::string, api::Node, std::less<>>;

constexpr const char* kRenderDegraded = "RenderDegraded";
constexpr const char* kDegraded = "Degraded";
constexpr const char* kWriteRefused = "WriteRefused";
constexpr const char* kUnreadable = "Unreadable";
// A pool's condition has the errors of this many writes; the other errors are only counted.
constexpr std::size_t kMostWriteErrors = 5;

api::Condition ConditionOf(const char* type, bool is_true, std::string_view reason, std::string_view message,
                           std::optional<api::Time> now) {
  api::Condition condition = api::MakeCondition(type, is_true ? "True" : "False", reason, message);
  condition.last_transition_time = now;
  return condition;
}

pool::KnownConfigs KnownConfigsIn(const View& view) {
  pool::KnownConfigs known;
  for (const api::MachineConfig* config : view.configs) {
    const auto& owners = config->metadata.owner_references;
    known[config->metadata.name] = {.owner = owners.empty() ? "" : owners.front().name,
                                    .os_image_url = config->spec.os_image_url};
  }
  return known;
}

std::size_t CountUnavailable(const std::vector<NodeState>& nodes) { return pool::Unavailable(nodes).size(); }

// Collects the changes to one node.  Each change is decided for the node as it is after the earlier changes.
class NodeWork {
 public:
  explicit NodeWork(const api::Node& node) : node_(&node) {}

  void Add(NodePatch patch) {
    if (patch.is_empty()) return;
    patched_ = Patched(node(), patch);
    Join(patch_, std::move(patch));
  }
  const api::Node& node() const { return patched_ ? *patched_ : *node_; }
  const NodePatch& patch() const { return patch_; }

 private:
  const api::Node* node_;
  std::optional<api::Node> patched_;
  NodePatch patch_;
};

class Pass {
 public:
  explicit Pass(const RolloutInputs& inputs)
      : inputs_(inputs), view_(inputs.view), members_(inputs.members), configs_(KnownConfigsIn(inputs.view)) {
    if (view_.controller_config != nullptr) expirys_ = pool::CertExpirysOf(*view_.controller_config);
    for (const auto* known : view_.machine_config_nodes) machine_config_nodes_[known->metadata.name] = known;
    for (const auto& [node, failure] : inputs.unwritten.nodes) updated_last_.insert(node);
    updated_last_.insert(inputs.undrainable.begin(), inputs.undrainable.end());
    if (view_.os_image_stream != nullptr) streams_ = view_.os_image_stream->status.available_streams;
  }

  Changes Run() && {
    if (!inputs_.why_unread.empty()) {
      for (const api::MachineConfigPool* pool : view_.pools) ReportUnread(*pool);
      return std::move(changes_);
    }
    for (const api::MachineConfigPool* pool : view_.pools) {
      if (!inputs_.skipped.contains(pool->metadata.name)) LookAt(*pool);
    }
    LookAtMastersInNoPool();
    // Updates come first, since the other changes can wait.
    std::stable_partition(changes_.nodes.begin(), changes_.nodes.end(),
                          [](const NodeChange& change) { return !change.target_text.empty(); });
    return std::move(changes_);
  }

 private:
  bool HasArbiter() const { return view_.topology() == pool::kArbiterTopology; }

  pool::Situation SituationOf(const api::MachineConfigPool& pool, const std::vector<NodeState>& nodes,
                              const std::vector<const api::MachineConfigNode*>& machine_config_nodes) const {
    const bool is_master = pool.metadata.name == api::kMasterPool;
    const bool is_arbiter = pool.metadata.name == api::kArbiterPool;
    return {.pool = pool,
            .nodes = nodes,
            .machine_config_nodes = machine_config_nodes,
            .layering = pool::FindLayering(pool, view_.os_configs, view_.os_builds),
            .features = inputs_.features,
            .cert_expirys = expirys_,
            .operator_node = view_.operator_node,
            .configs = configs_,
            .all_pools = view_.pools,
            .os_image_streams = streams_,
            .unavailable_arbiters =
                HasArbiter() && is_master ? CountUnavailable(members_.Of(api::kArbiterPool)) : std::size_t{0},
            .masters = HasArbiter() && is_arbiter ? MastersNow() : std::nullopt,
            .now = inputs_.now,
            .undrainable = &updated_last_};
  }

  std::optional<pool::Masters> MastersNow() const {
    const api::MachineConfigPool* const masters = view_.PoolNamed(api::kMasterPool);
    if (masters == nullptr) return std::nullopt;
    const auto& nodes = members_.Of(api::kMasterPool);
    const pool::Target target(*masters, pool::FindLayering(*masters, view_.os_configs, view_.os_builds));
    const auto waiting = std::count_if(nodes.begin(), nodes.end(), [&](const NodeState& node) {
      return node.is_ready() && !target.IsAssignedTo(node);
    });
    return pool::Masters{.paused = masters->spec.paused,
                         .unavailable = CountUnavailable(nodes),
                         .candidates = static_cast<std::size_t>(waiting)};
  }

  // Returns the MachineConfigNodes of the pool's nodes.  A MachineConfigNode without conditions is left out, since
  // pool::Status() would stop reading at it.
  std::vector<const api::MachineConfigNode*> MachineConfigNodesOf(const std::vector<NodeState>& nodes) const {
    std::vector<const api::MachineConfigNode*> machine_config_nodes;
    for (const NodeState& node : nodes) {
      const auto known = machine_config_nodes_.find(node.name());
      const bool has_conditions = known != machine_config_nodes_.end() && !known->second->status.conditions.empty();
      if (has_conditions) machine_config_nodes.push_back(known->second);
    }
    return machine_config_nodes;
  }

  // `found` is the pool as it is in the view; `pool` also has the conditions that this pass sets.
  void LookAt(const api::MachineConfigPool& found) {
    api::MachineConfigPool pool = found;
    SetRenderDegraded(pool);
    SetMisconfigured(pool);
    if (pool.spec.configuration.name.empty()) {
      if (!IsHeld(found)) KeepUp(found, pool, {}, std::nullopt);
      return WriteUnconfigured(found, std::move(pool.status));
    }
    const auto& nodes = members_.Of(pool.metadata.name);
    const auto machine_config_nodes = MachineConfigNodesOf(nodes);
    const pool::Situation situation = SituationOf(pool, nodes, machine_config_nodes);
    std::optional<std::string> to_stage;
    pool::Rollout rollout = DecideAbout(situation, to_stage);
    HoldBack(nodes, rollout);
    if (IsHeld(found)) {
      rollout.updates.clear();
      rollout.updates_of_unavailable.clear();
    }
    TakeOutAwaited(rollout);
    const NodesByName updated = IsHeld(found) ? NodesByName() : KeepUp(found, pool, rollout, to_stage);
    if (!updated.empty()) {
      // The status is written after the nodes have been updated, so it describes the state after the updates.
      std::vector<NodeState> after;
      for (const NodeState& node : nodes) {
        const auto changed = updated.find(node.name());
        after.push_back(changed == updated.end() ? node : NodeState(changed->second));
      }
      const pool::Situation then = SituationOf(pool, after, machine_config_nodes);
      rollout.status = pool::Decide(then).status;
    }
    AnnounceDeferral(situation, rollout);
    WriteStatus(found, std::move(rollout.status), situation.layering);
  }

  // Decides by the policy of the pool, if it has one.  Sets `to_stage` to the target that nodes without this target
  // have to stage, or to an empty text if nodes stage nothing.  If the policy cannot be used, `to_stage` stays
  // unset.
  pool::Rollout DecideAbout(const pool::Situation& situation, std::optional<std::string>& to_stage) {
    const PoolPolicy* const of_pool = PolicyOf(situation.pool.metadata.name);
    if (of_pool == nullptr) {
      to_stage.emplace();
      return pool::Decide(situation);
    }
    if (of_pool->policy == nullptr || !inputs_.now) {
      const pool::Admission nobody = {.nodes = std::vector<bool>(situation.nodes.size(), false), .capacity = 0};
      pool::Situation held = situation;
      held.admission = &nobody;
      return pool::Decide(held);
    }
    static const api::RolloutMemory kNothing;
    auto decided =
        pool::DecideByPolicy(situation, {.policy = *of_pool->policy,
                                         .memory = of_pool->before == nullptr ? kNothing : of_pool->before->memory,
                                         .now = inputs_.now->at,
                                         .gate_results = of_pool->gate_results,
                                         .undisruptive = of_pool->undisruptive});
    to_stage = std::move(decided.to_stage);
    changes_.policies.push_back({.status = pool::StatusOf(situation, decided, of_pool->before, inputs_.now->at),
                                 .news = std::move(decided.news),
                                 .decide_again_at = decided.decide_again_at});
    return std::move(decided.rollout);
  }

  const PoolPolicy* PolicyOf(const std::string& pool) const {
    if (inputs_.policies == nullptr) return nullptr;
    const auto found = inputs_.policies->find(pool);
    return found == inputs_.policies->end() ? nullptr : &found->second;
  }

  // Removes the updates of nodes that wait for a forecast.
  void TakeOutAwaited(pool::Rollout& rollout) const {
    if (inputs_.awaited == nullptr) return;
    for (auto* list : {&rollout.updates, &rollout.updates_of_unavailable}) {
      std::erase_if(*list, [&](const pool::NodeUpdate& update) {
        return inputs_.awaited->contains(update.node) && ChangesTarget(update.patch);
      });
    }
  }

  // ---- what cannot be read ----

  // Returns whether no node of the pool may be updated, because something about the pool cannot be read.
  bool IsHeld(const api::MachineConfigPool& pool) const { return view_.held_pools.contains(pool.metadata.name); }

  // Reports in a pool's status why the cluster cannot be read.  The parts of the status that are about nodes stay as
  // they are.
  void ReportUnread(const api::MachineConfigPool& found) {
    if (inputs_.skipped.contains(found.metadata.name)) return;
    api::MachineConfigPool pool = found;
    SetRenderDegraded(pool);
    pool::SetCondition(pool.status.conditions,
                       ConditionOf(kDegraded, true, kUnreadable, inputs_.why_unread, inputs_.now));
    WriteStatus(found, std::move(pool.status), {});
  }

  // ---- what the API server refuses ----

  static const Unwritten* Find(const std::map<std::string, Unwritten, std::less<>>& unwritten,
                               const std::string& node) {
    const auto found = unwritten.find(node);
    return found == unwritten.end() ? nullptr : &found->second;
  }

  // Returns whether the node must not be written now.
  bool IsHeldBack(const std::string& node) const {
    const Unwritten* const unwritten = Find(inputs_.unwritten.nodes, node);
    return unwritten != nullptr && (!unwritten->is_due || unwritten->is_unknown);
  }

  // Removes the updates that must not be written now.  While it is unknown whether a node was updated, no other node of
  // its pool may be updated.
  void HoldBack(const std::vector<NodeState>& nodes, pool::Rollout& rollout) const {
    if (inputs_.unwritten.nodes.empty()) return;
    const bool is_unknown = std::any_of(nodes.begin(), nodes.end(), [&](const NodeState& node) {
      const Unwritten* const unwritten = Find(inputs_.unwritten.nodes, node.name());
      return unwritten != nullptr && unwritten->is_unknown;
    });
    for (auto* list : {&rollout.updates, &rollout.updates_of_unavailable}) {
      std::erase_if(*list, [&](const pool::NodeUpdate& update) { return is_unknown || IsHeldBack(update.node); });
    }
  }

  // Returns the server's errors about writes of the nodes of a pool.
  std::string WriteErrorsOf(const std::string& pool) const {
    if (inputs_.unwritten.nodes.empty() && inputs_.unwritten.machine_config_nodes.empty()) return "";
    std::string errors;
    std::size_t count = 0;
    for (const NodeState& node : members_.Of(pool)) {
      for (const auto* list : {&inputs_.unwritten.nodes, &inputs_.unwritten.machine_config_nodes}) {
        const Unwritten* const unwritten = Find(*list, node.name());
        if (unwritten == nullptr || unwritten->why.empty() || ++count > kMostWriteErrors) continue;
        AddReason(unwritten->why, errors);
      }
    }
    if (count > kMostWriteErrors) errors += fmt::format("; and {} more", count - kMostWriteErrors);
    return errors;
  }

  // Reports the errors of writes in the condition Degraded.  A pool that is degraded for another reason keeps this
  // reason.
  void SetWriteRefused(const api::MachineConfigPool& found, api::MachineConfigPoolStatus& status) const {
    const std::string errors = WriteErrorsOf(found.metadata.name);
    if (errors.empty() || pool::IsTrue(status.conditions, kDegraded)) return;
    // The new condition keeps the transition time of the condition that it replaces.  So the condition that the server
    // has is put back first.
    const api::Condition* const known = api::FindCondition(found.status.conditions, kDegraded);
    std::erase_if(status.conditions, [](const api::Condition& condition) { return condition.type == kDegraded; });
    if (known != nullptr) status.conditions.push_back(*known);
    pool::SetCondition(status.conditions, ConditionOf(kDegraded, true, kWriteRefused, errors, inputs_.now));
  }

  // ---- conditions of our own making ----

  void SetRenderDegraded(api::MachineConfigPool& pool) const {
    const auto verdict = inputs_.verdicts.find(pool.metadata.name);
    if (verdict == inputs_.verdicts.end()) return;
    const auto& [reason, message] = verdict->second;
    pool::SetCondition(pool.status.conditions,
                       ConditionOf(kRenderDegraded, !message.empty(), reason, message, inputs_.now));
  }

  std::optional<Mistake> MistakeOf(const api::MachineConfigPool& pool) const {
    const auto mistake = members_.mistakes.find(pool.metadata.name);
    if (mistake != members_.mistakes.end()) return mistake->second;
    const auto most = pool::MaxUnavailable(pool, members_.Of(pool.metadata.name).size());
    if (!most) {
      return Mistake{"InvalidMaxUnavailable", fmt::format("no node is updated: {}", most.error().message())};
    }
    return MistakeOfDrains(pool);
  }

  static std::optional<Mistake> MistakeOfDrains(const api::MachineConfigPool& pool) {
    std::string message;
    for (const Error& problem : drain::SettingsOf(pool).problems) {
      message += (message.empty() ? "the defaults are used instead of these settings: " : "; ") + problem.message();
    }
    if (message.empty()) return std::nullopt;
    return Mistake{"InvalidDrainSettings", std::move(message)};
  }

  // Sets or removes the condition Misconfigured.  It exists only while there is a mistake, so that an ordinary pool has
  // only conditions that the Machine Config Operator's controllers also set.
  void SetMisconfigured(api::MachineConfigPool& pool) const {
    if (auto mistake = MistakeOf(pool)) {
      pool::SetCondition(pool.status.conditions,
                         ConditionOf(kMisconfigured, true, std::move(mistake->reason), mistake->message, inputs_.now));
    } else {
      std::erase_if(pool.status.conditions, [](const api::Condition& c) { return c.type == kMisconfigured; });
    }
  }

  // ---- nodes ----

  // Adds the changes to the nodes of a pool and to their MachineConfigNodes.  Returns the nodes that are updated, as
  // they are afterwards.  If `to_stage` is unset, nodes continue to stage what they stage now.
  NodesByName KeepUp(const api::MachineConfigPool& found, const api::MachineConfigPool& pool,
                     const pool::Rollout& rollout, const std::optional<std::string>& to_stage) {
    std::map<std::string_view, const NodePatch*> patches;
    for (const auto* list : {&rollout.updates, &rollout.updates_of_unavailable}) {
      for (const pool::NodeUpdate& update : *list) patches.emplace(update.node, &update.patch);
    }
    const pool::Layering layering = pool::FindLayering(pool, view_.os_configs, view_.os_builds);
    const pool::Target target(pool, layering);
    const std::string line = "MachineConfig: " + std::string(pool.spec.configuration.name);
    const bool is_rolling_out =
        rollout.hold_reason.empty() && rollout.max_unavailable && !pool.spec.configuration.name.empty();

    NodesByName updated;
    for (const NodeState& node : members_.Of(found.metadata.name)) {
      NodeWork work(node.node());
      KeepUpMaster(work);
      if (inputs_.now) work.Add(FilesWaitUpkeep(found, work.node(), inputs_.now->at));
      const auto patch = patches.find(node.name());
      if (patch != patches.end()) work.Add(*patch->second);
      if (is_rolling_out) KeepUpWithPool(work, target);
      if (is_rolling_out && to_stage) work.Add(target.StagePatchFor(NodeState(work.node()), *to_stage));
      if (patch != patches.end()) updated.emplace(node.name(), work.node());
      KeepUpMachineConfigNode(work.node(), pool);
      const bool is_retargeted = patch != patches.end() && ChangesTarget(*patch->second);
      Add(work, is_retargeted ? line + ImageOf(layering) : "", pool.metadata.name);
    }
    return updated;
  }

  // Returns whether the patch changes the desired config or image, and not only labels.
  static bool ChangesTarget(const NodePatch& patch) {
    const auto& annotations = patch.metadata.annotations;
    return std::any_of(annotations.begin(), annotations.end(), [](const auto& annotation) {
      return annotation.first == api::kDesiredConfigAnnotation || annotation.first == api::kDesiredImageAnnotation;
    });
  }

  static std::string ImageOf(const pool::Layering& layering) {
    return layering.image().empty() ? "" : fmt::format(" / Image: {}", layering.image());
  }

  // Corrects the labels and taints by which pods are kept from masters.
  void KeepUpMaster(NodeWork& work) const {
    const bool is_master = api::Find(work.node().metadata.labels, api::kMasterRoleLabel) != nullptr;
    if (is_master && view_.master_scheduling) work.Add(pool::MasterRolePatch(work.node(), *view_.master_scheduling));
  }

  void KeepUpWithPool(NodeWork& work, const pool::Target& target) const {
    const std::string_view topology = view_.topology();
    const std::string* known = api::Find(work.node().metadata.annotations, api::kControlPlaneTopologyAnnotation);
    if (!topology.empty() && (known == nullptr || *known != topology)) {
      NodePatch patch;
      patch.metadata.annotations.emplace(api::kControlPlaneTopologyAnnotation, topology);
      work.Add(std::move(patch));
    }
    work.Add(pool::UpdateInProgressPatch(NodeState(work.node()), target));
  }

  // Writes the desired config and image of a node to its MachineConfigNode.
  void KeepUpMachineConfigNode(const api::Node& node, const api::MachineConfigPool& pool) {
    const auto known = machine_config_nodes_.find(node.metadata.name);
    if (known == machine_config_nodes_.end()) return;
    const std::string& config = node.metadata.Annotation(api::kDesiredConfigAnnotation);
    api::MachineConfigNodeSpec spec = known->second->spec;
    spec.pool.name = pool.metadata.name;
    if (!config.empty()) spec.config_version.desired = config;
    spec.config_image.desired_image = node.metadata.Annotation(api::kDesiredImageAnnotation);
    if (json::Equal(spec, known->second->spec)) return;
    changes_.machine_config_nodes.push_back({.node = node.metadata.name,
                                             .resource_version = known->second->metadata.resource_version,
                                             .spec = std::move(spec)});
  }

  // If the cluster has no pool of masters, a master may be in another pool, which has looked at it already.
  void LookAtMastersInNoPool() {
    if (view_.PoolNamed(api::kMasterPool) != nullptr) return;
    std::set<std::string_view> in_pools;
    for (const auto& [pool, nodes] : members_.nodes) {
      for (const NodeState& node : nodes) in_pools.insert(node.name());
    }
    for (const api::Node* node : view_.nodes) {
      if (in_pools.contains(node->metadata.name)) continue;
      NodeWork work(*node);
      KeepUpMaster(work);
      Add(work, "", "");
    }
  }

  void Add(const NodeWork& work, std::string target_text, const std::string& pool) {
    if (work.patch().is_empty() || IsHeldBack(work.node().metadata.name)) return;
    changes_.nodes.push_back({.node = work.node().metadata.name,
                              .resource_version = work.node().metadata.resource_version,
                              .patch = work.patch(),
                              .target_text = std::move(target_text),
                              .pool = pool});
  }

  // ---- statuses ----

  // Writes the status of a pool without a rendered config.  The status reports nothing about nodes, but it reports why
  // nothing was rendered.
  void WriteUnconfigured(const api::MachineConfigPool& found, api::MachineConfigPoolStatus status) {
    const bool is_degraded = pool::IsTrue(status.conditions, kRenderDegraded);
    if (is_degraded || pool::IsTrue(status.conditions, kDegraded)) {
      pool::SetCondition(status.conditions, ConditionOf(kDegraded, is_degraded, "", "", inputs_.now));
    }
    WriteStatus(found, std::move(status), {});
  }

  void WriteStatus(const api::MachineConfigPool& found, api::MachineConfigPoolStatus status,
                   const pool::Layering& layering) {
    if (inputs_.addition) inputs_.addition(found, status);
    SetWriteRefused(found, status);
    if (json::Equal(status, found.status)) return;
    AnnounceMistake(found, status);
    AnnounceSelectingAll(found, status);
    if (status.configuration.name != found.status.configuration.name) {
      Announce(
          found, kube::EventKind::kNormal, "Completed",
          fmt::format("Pool {} has completed update to {}", found.metadata.name, pool::TargetLine(found, layering)));
    }
    changes_.statuses.push_back({.pool = found.metadata.name,
                                 .resource_version = found.metadata.resource_version,
                                 .status = std::move(status)});
  }

  // ---- events ----

  void Announce(const api::MachineConfigPool& pool, kube::EventKind kind, std::string reason, std::string message,
                Announcement::Cause cause = Announcement::Cause::kStatus) {
    changes_.announcements.push_back({pool.metadata.name, kind, std::move(reason), std::move(message), cause});
  }

  // Emits the event when the mistake appears, not each time that the status is written.
  void AnnounceMistake(const api::MachineConfigPool& found, const api::MachineConfigPoolStatus& status) {
    if (pool::IsTrue(found.status.conditions, kMisconfigured)) return;
    for (const api::Condition& condition : status.conditions) {
      if (condition.type != kMisconfigured) continue;
      Announce(found, kube::EventKind::kWarning, condition.reason, condition.message);
    }
  }

  void AnnounceSelectingAll(const api::MachineConfigPool& found, const api::MachineConfigPoolStatus& status) {
    const auto reports_it = [](const std::vector<api::Condition>& conditions) {
      return std::any_of(conditions.begin(), conditions.end(), [](const api::Condition& condition) {
        return condition.type == kRenderDegraded && condition.status == "True" && condition.reason == kSelectingAll;
      });
    };
    if (!reports_it(status.conditions) || reports_it(found.status.conditions)) return;
    Announce(found, kube::EventKind::kWarning, kSelectingAll, kSelectingAllMessage);
  }

  // Emits an event if the node of the operator is updated later than other masters.  The event is emitted together with
  // the updates of these masters, and not for each look at the pool.
  void AnnounceDeferral(const pool::Situation& situation, const pool::Rollout& rollout) {
    const auto& candidates = rollout.candidates.nodes;
    if (situation.pool.metadata.name != api::kMasterPool || candidates.size() <= 1 || rollout.updates.empty()) return;
    const bool is_deferred = std::any_of(candidates.begin(), candidates.end(), [&](std::size_t i) {
      return situation.nodes[i].name() == situation.operator_node;
    });
    if (!is_deferred) return;
    Announce(situation.pool, kube::EventKind::kNormal, "DeferringOperatorNodeUpdate",
             fmt::format("Deferring update of machine config operator node {}", situation.operator_node),
             Announcement::Cause::kTargetUpdate);
  }

  const RolloutInputs& inputs_;
  const View& view_;
  const PoolMembers& members_;
  pool::KnownConfigs configs_;
  std::vector<api::CertExpiry> expirys_;
  std::vector<api::OSImageStreamSet> streams_;
  pool::NodeNames updated_last_;  // Nodes that are updated after the others.
  std::map<std::string_view, const api::MachineConfigNode*> machine_config_nodes_;  // The key is the node.
  Changes changes_;
};

}  // namespace

Changes RolloutPass(const RolloutInputs& inputs) { return Pass(inputs).Run(); }

}  // namespace pintle::controller
