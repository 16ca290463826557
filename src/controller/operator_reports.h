// SPDX-License-Identifier: Apache-2.0
#pragma once

// Reports as OpenShift's Machine Config Operator does, and maintains the objects that belong to that operator.
//
// These objects are the ClusterOperator, the MachineConfigNodes, the policy in the status of the MachineConfiguration,
// and the labels of the built-in pools.  A cluster that lacks the kind ClusterOperator is not OpenShift, and then
// nothing is written.  A write that fails is repeated less and less often, and the ClusterOperator reports the failure.

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "clusterops/cluster_operator.h"
#include "clusterops/machine_config_nodes.h"
#include "controller/announcer.h"
#include "controller/cluster.h"
#include "controller/operator_kinds.h"
#include "controller/operator_writes.h"
#include "controller/overlaid_mirror.h"
#include "controller/render_pass.h"
#include "kube/client.h"

namespace pintle::controller {

class OperatorReports {
 public:
  using Listener = OperatorWrites::Listener;  // `changed` is also called when the ClusterOperator has changed.

  // The clock, the cluster and `events` must outlive this object.
  OperatorReports(kube::Client client, const Clock& clock, Cluster& cluster, Announcer& events, Versions versions,
                  Listener listener);
  OperatorReports(const OperatorReports&) = delete;
  OperatorReports& operator=(const OperatorReports&) = delete;

  // Decides and writes; called while this replica acts as the operator, when the whole cluster has been read.
  void Look(const View& view);

  // Like Look(), but for a cluster that cannot be read completely.  Only the ClusterOperator is written, and it reports
  // the reason `why`.  All pools and configs must have been read.
  void LookInPart(const View& view, const std::string& why);

  // Returns whether no release has been installed completely yet, or nullopt while that is not known.  An installed
  // cluster still counts as installed if its ClusterOperator is deleted.
  std::optional<bool> IsInstalling(const View& view);

  // Returns whether the API server has the kind ClusterOperator, and the object has been read if it exists.
  bool is_served() const { return operators_.is_served(); }

  // Returns the tasks of the operator that failed at the latest look.
  const std::set<std::string, std::less<>>& failed_tasks() const { return failed_tasks_; }

  // Sets the failures of other parts of the operator that the next report contains, by task.  `release_of_images` is
  // the release of images.json; it is reported if neither the ControllerConfig nor the ClusterOperator has a release.
  void SetFailuresOfOthers(std::map<std::string, std::string, std::less<>> failures,
                           std::string release_of_images = "") {
    failures_of_others_ = std::move(failures);
    release_of_images_ = std::move(release_of_images);
  }

  // Stops all writes and forgets what has failed.
  void Stop();

 private:
  void KeepUpPools(const View& view);
  void KeepUpMachineConfigNodes(const View& view);
  // Removes a MachineConfigNode whose Node does not exist any more.
  void Remove(std::string what, clusterops::StaleMachineConfigNode stale);
  void KeepUpMachineConfiguration(const View& view);
  void CreateClusterOperator();
  void Report(const View& view);
  std::vector<clusterops::TaskFailure> Failures() const;
  void Emit(const api::ClusterOperator& about, const std::vector<clusterops::OperatorEvent>& events);

  kube::Client client_;
  const Clock& clock_;
  Cluster& cluster_;
  Announcer& events_;
  const Versions versions_;
  std::function<void(MonotonicTime when)> retry_at_;
  OverlaidMirror<api::ClusterOperator> operators_;
  std::map<std::string, std::string, std::less<>> failures_of_others_;  // The key is the task.
  std::string why_unread_;  // The latest look's reason why the cluster cannot be read, or "".
  std::string release_of_images_;
  std::set<std::string, std::less<>> failed_tasks_;
  std::optional<WallTime> waiting_since_;
  bool is_installed_ = false;  // A release has been installed at some time.
  OperatorWrites writes_;
};

}  // namespace pintle::controller
