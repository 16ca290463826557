// SPDX-License-Identifier: Apache-2.0
#pragma once

// Reports as OpenShift's Machine Config Operator does, and maintains the objects that belong to that operator.
//
// These are the ClusterOperator, the MachineConfigNodes, the policy in the status of the MachineConfiguration, and the
// labels of the built-in pools.  A cluster that lacks the kind ClusterOperator is not OpenShift, and then nothing is
// written.  A write that fails is repeated less and less often, and the ClusterOperator reports it.

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
#include "controller/overlaid_mirror.h"
#include "controller/render_pass.h"
#include "controller/write_backoff.h"
#include "kube/client.h"

namespace pintle::controller {

class OperatorReports {
 public:
  struct Listener {
    std::function<void()> changed;  // The ClusterOperator has changed, or a write has ended.
    std::function<void(MonotonicTime when)> retry_at;
    std::function<void(const std::string& what, const Error& error)> trouble;
  };

  // The clock, the cluster and `events` must outlive this object.
  OperatorReports(kube::Client client, const Clock& clock, Cluster& cluster, Announcer& events, Versions versions,
                  Listener listener);
  OperatorReports(const OperatorReports&) = delete;
  OperatorReports& operator=(const OperatorReports&) = delete;

  // Decides and writes; called while this replica leads, when the whole cluster has been read.
  void Look(const View& view);

  // Adds a failure of another part of the operator to the report, or removes it if `why` is nullopt.
  void Set(std::string_view task, std::optional<std::string> why);

  // Stops all writes and forgets what has failed.
  void Stop();

 private:
  void KeepUpPools(const View& view);
  void KeepUpNodes(const View& view);
  void Remove(std::string what, clusterops::StaleMachineConfigNode stale);
  void KeepUpConfiguration(const View& view);
  void Create();
  void Report(const View& view);
  std::vector<clusterops::TaskFailure> Failures() const;
  void Emit(const api::ClusterOperator& about, const std::vector<clusterops::OperatorEvent>& events);

  // Returns whether the write `what` may start: it is not under way, and its back-off has ended.
  bool MayStart(const std::string& what);
  // Handles the end of a write.  `task` is empty if the ClusterOperator cannot report the failure.
  void Ended(std::string_view task, const std::string& what, const Error* error);
  // Handles the end of a creation or a removal.  This backs off even after a success, since the mirror may be late and
  // the write would be repeated at once.
  void EndedOnce(std::string_view task, const std::string& what, const Error* error);

  kube::Client client_;
  const Clock& clock_;
  Cluster& cluster_;
  Announcer& events_;
  const Versions versions_;
  Listener listener_;
  OverlaidMirror<api::ClusterOperator> operators_;
  std::map<std::string, std::string, std::less<>> failures_of_others_;  // By task.
  std::map<std::string, clusterops::TaskFailure> refused_;              // By description of the write.
  std::set<std::string> wanted_;                                        // The writes that the latest look wanted.
  std::optional<WallTime> waiting_since_;
  WriteBackoff backoff_;
  std::map<std::string, kube::Call> calls_;  // By description.
};

}  // namespace pintle::controller
