// SPDX-License-Identifier: Apache-2.0
#include "controller/operator_reports.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "clusterops/machine_configuration_status.h"
#include "clusterops/pool_labels.h"
#include "controller/cluster_operator_pass.h"
#include "controller/events.h"
#include "controller/generated_kinds.h"
#include "controller/watched.h"
#include "json/fields.h"
#include "pool/control_plane.h"

namespace pintle::controller {
namespace {

// The largest number of calls at the same time.  When a cluster is taken over, thousands of nodes may lack their
// MachineConfigNodes.
constexpr std::size_t kCallsAtOnce = 32;

bool HasRelease(const api::ClusterOperator& known) {
  const auto& versions = known.status.versions;
  return std::any_of(versions.begin(), versions.end(),
                     [](const api::OperandVersion& version) { return version.name == "operator"; });
}

// Returns whether all machines of a pool have been updated once; then the cluster is no longer being installed.
bool HasUpdatedPool(const View& view) {
  return std::any_of(view.pools.begin(), view.pools.end(), [](const api::MachineConfigPool* pool) {
    return pool->status.machine_count > 0 && !pool->status.configuration.name.empty();
  });
}

}  // namespace

OperatorReports::OperatorReports(kube::Client client, const Clock& clock, Cluster& cluster, Announcer& events,
                                 Versions versions, Listener listener)
    : client_(std::move(client)),
      clock_(clock),
      cluster_(cluster),
      events_(events),
      versions_(std::move(versions)),
      retry_at_(listener.retry_at),
      operators_(client_, Need::kIfServed,
                 {.changed = listener.changed,
                  .trouble = [trouble = listener.trouble](
                                 const Error& error) { trouble("watching clusteroperators", error); }},
                 {.field_selector = fmt::format("metadata.name={}", api::kMachineConfigOperatorName)}),
      writes_(clock, std::move(listener)) {}

void OperatorReports::Look(const View& view) {
  if (!operators_.is_served()) return;
  why_unread_.clear();
  writes_.BeginLook();
  KeepUpMachineConfiguration(view);
  KeepUpMachineConfigNodes(view);
  KeepUpPools(view);
  writes_.EndLook();
  Report(view);
}

void OperatorReports::LookInPart(const View& view, const std::string& why) {
  if (!operators_.is_served()) return;
  why_unread_ = why;
  Report(view);
}

std::optional<bool> OperatorReports::IsInstalling(const View& view) {
  if (!operators_.is_served()) return std::nullopt;
  const api::ClusterOperator* const known = operators_.Find(api::kMachineConfigOperatorName);
  is_installed_ = is_installed_ || (known != nullptr && HasRelease(*known)) || HasUpdatedPool(view);
  return !is_installed_;
}

void OperatorReports::Stop() {
  writes_.Stop();
  failures_of_others_.clear();
  why_unread_.clear();
  failed_tasks_.clear();
  waiting_since_.reset();
}

// ---- what belongs to the operator ----

void OperatorReports::KeepUpPools(const View& view) {
  for (const api::MachineConfigPool* pool : view.pools) {
    const std::string& name = pool->metadata.name;
    if (pool->metadata.deletion_timestamp || view.unreadable_pools.contains(name)) continue;
    // In a cluster without arbiters, an administrator has made the pool with this name, so it is left alone.
    if (name == api::kArbiterPool && view.topology() != pool::kArbiterTopology) continue;
    const api::Labels labels = clusterops::MissingLabels(*pool);
    const std::string what = "labelling the pool " + name;
    if (labels.empty() || !writes_.MayStart(what)) continue;
    json::Value patch;
    patch["metadata"]["resourceVersion"] = pool->metadata.resource_version;
    for (const auto& [label, value] : labels) patch["metadata"]["labels"][label] = value;
    writes_.Start(what, client_.Once({}).Patch<api::MachineConfigPool>(
                            {"", name}, kube::MergePatch{std::move(patch)},
                            [this, what, before = *pool](Result<api::MachineConfigPool>&& labelled) {
                              const PatchEffect effect = PatchEffectOf(before, labelled);
                              if (labelled) cluster_.StoreAnswer(*std::move(labelled));
                              writes_.Ended(clusterops::kMachineConfigPoolsTask, what,
                                            labelled ? nullptr : &labelled.error(), effect);
                            }));
  }
}

void OperatorReports::KeepUpMachineConfigNodes(const View& view) {
  if (!cluster_.machine_config_nodes().is_served()) return;
  clusterops::MachineConfigNodeInputs inputs{
      .nodes = view.nodes, .pools = view.pools, .known = view.machine_config_nodes};
  for (const auto& node : view.unreadable_nodes) inputs.unreadable.insert(node.object->metadata.name);
  clusterops::MachineConfigNodeWork work = clusterops::FindMachineConfigNodeWork(inputs);
  for (api::MachineConfigNode& missing : work.missing) {
    const std::string what = "creating the MachineConfigNode " + missing.metadata.name;
    // MayStart() is called for each write, since the failures of writes that are not wanted any more are forgotten.
    if (!writes_.MayStart(what) || writes_.count_under_way() >= kCallsAtOnce) continue;
    WatchedMachineConfigNode created;
    static_cast<api::MachineConfigNode&>(created) = std::move(missing);
    writes_.Start(what, client_.Once({}).Create<WatchedMachineConfigNode>(
                            created, [this, what](const Result<WatchedMachineConfigNode>& made) {
                              // The node's agent may have created the MachineConfigNode.
                              writes_.CreationEnded(clusterops::kMachineConfigNodeTask, what, made);
                            }));
  }
  for (const clusterops::StaleMachineConfigNode& stale : work.stale) {
    const std::string what = "removing the MachineConfigNode " + stale.name;
    if (!writes_.MayStart(what) || writes_.count_under_way() >= kCallsAtOnce) continue;
    // The mirror of the nodes may be behind that of the MachineConfigNodes, so the API server is asked.
    writes_.Start(
        what, client_.Once({}).Get<WatchedNode>({"", stale.name}, [this, what, stale](const Result<WatchedNode>& node) {
          if (!node && node.error().kind() == ErrorKind::kNotFound) return Remove(what, stale);
          writes_.EndedWithBackoff(clusterops::kMachineConfigNodeTask, what, node ? nullptr : &node.error());
        }));
  }
}

// The arguments are copies: the originals belong to the callback of a call, which Start() replaces and so destroys.
void OperatorReports::Remove(std::string what, clusterops::StaleMachineConfigNode stale) {
  writes_.Start(what, client_.Once({}).Delete<api::MachineConfigNode>(
                          {"", stale.name}, stale.uid, [this, what](const Result<>& removed) {
                            const bool is_gone = removed || removed.error().kind() == ErrorKind::kNotFound ||
                                                 removed.error().kind() == ErrorKind::kConflict;
                            writes_.EndedWithBackoff(clusterops::kMachineConfigNodeTask, what,
                                                     is_gone ? nullptr : &removed.error());
                          }));
}

void OperatorReports::KeepUpMachineConfiguration(const View& view) {
  if (!cluster_.machine_configurations().is_served() || !view.unreadable_settings.empty()) return;
  if (view.machine_configuration == nullptr) {
    const std::string what = "creating the MachineConfiguration";
    if (!writes_.MayStart(what)) return;
    NewMachineConfiguration created;
    created.metadata.name = kSingletonName;
    writes_.Start(what, client_.Once({}).Create<NewMachineConfiguration>(
                            created, [this, what](const Result<NewMachineConfiguration>& made) {
                              writes_.CreationEnded(clusterops::kMachineConfigurationTask, what, made);
                            }));
    return;
  }
  const api::MachineConfiguration& known = *view.machine_configuration;
  const auto next = clusterops::NextStatus(known);
  const std::string what = "writing the status of the MachineConfiguration";
  if (!next || !writes_.MayStart(what)) return;
  json::Value patch;
  patch["metadata"]["resourceVersion"] = known.metadata.resource_version;
  patch["status"]["observedGeneration"] = next->observed_generation;
  patch["status"]["nodeDisruptionPolicyStatus"] = json::Encode(next->node_disruption_policy_status);
  writes_.Start(what, client_.Once({}).Patch<api::MachineConfiguration>(
                          {"", kSingletonName}, kube::MergePatch{std::move(patch)},
                          [this, what, before = known](Result<api::MachineConfiguration>&& written) {
                            const PatchEffect effect = PatchEffectOf(before, written);
                            if (written) cluster_.StoreAnswer(*std::move(written));
                            writes_.Ended(clusterops::kMachineConfigurationTask, what,
                                          written ? nullptr : &written.error(), effect);
                          },
                          kube::Part::kStatus));
}

// ---- the ClusterOperator ----

void OperatorReports::CreateClusterOperator() {
  const std::string what = "creating the ClusterOperator";
  if (!writes_.MayStart(what)) return;
  api::ClusterOperator created;
  created.metadata.name = api::kMachineConfigOperatorName;
  writes_.Start(what, client_.Once({}).Create<api::ClusterOperator>(
                          created, [this, what](const Result<api::ClusterOperator>& made) {
                            writes_.CreationEnded("", what, made);
                          }));
}

void OperatorReports::Report(const View& view) {
  const api::ClusterOperator* const known = operators_.Find(api::kMachineConfigOperatorName);
  if (known == nullptr) return CreateClusterOperator();
  const WallTime now = clock_.Wall();
  ClusterOperatorChange change = ClusterOperatorPass({.view = view,
                                                      .known = *known,
                                                      .versions = versions_,
                                                      .release_of_images = release_of_images_,
                                                      .failures = Failures(),
                                                      .waiting_since = waiting_since_,
                                                      .now = now});
  waiting_since_ = change.waiting_since;
  failed_tasks_ = std::move(change.failed_tasks);
  if (change.again_at) {
    const auto in = std::chrono::duration_cast<MonotonicTime::duration>(*change.again_at - now);
    retry_at_(clock_.Monotonic() + in);
  }
  const std::string what = "writing the status of the ClusterOperator";
  if (!change.patch || !writes_.MayStart(what)) return;
  writes_.Start(what, client_.Once({}).Patch<api::ClusterOperator>(
                          {"", api::kMachineConfigOperatorName}, kube::MergePatch{*std::move(change.patch)},
                          [this, what, before = *known,
                           events = std::move(change.events)](Result<api::ClusterOperator>&& written) {
                            if (!written) return writes_.Ended("", what, &written.error());
                            const PatchEffect effect = PatchEffectOf(before, written);
                            if (effect == PatchEffect::kKept) Emit(*written, events);
                            operators_.StoreAnswer(*std::move(written));
                            writes_.Ended("", what, nullptr, effect);
                          },
                          kube::Part::kStatus));
}

std::vector<clusterops::TaskFailure> OperatorReports::Failures() const {
  std::vector<clusterops::TaskFailure> failures;
  for (const auto& [task, why] : failures_of_others_) failures.push_back({.task = task, .why = why});
  if (!why_unread_.empty()) {
    failures.push_back({.task = std::string(clusterops::kMachineConfigControllerTask),
                        .why = "no node is updated, because the cluster cannot be read: " + why_unread_});
  }
  for (clusterops::TaskFailure& failure : writes_.Failures()) failures.push_back(std::move(failure));
  return failures;
}

void OperatorReports::Emit(const api::ClusterOperator& about, const std::vector<clusterops::OperatorEvent>& events) {
  for (const clusterops::OperatorEvent& event : events) {
    const bool is_warning = event.importance == clusterops::Importance::kWarning;
    is_warning ? log::Warning(event.message, kTrouble) : log::Info(event.message);
    events_.Emit(about, is_warning ? kube::EventKind::kWarning : kube::EventKind::kNormal, event.reason, event.message);
  }
}

}  // namespace pintle::controller
