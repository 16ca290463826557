// SPDX-License-Identifier: Apache-2.0
#pragma once

// Reads and writes the objects of a takeover, one request after the other.

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "api/cluster_operator.h"
#include "base/clock.h"
#include "base/result.h"
#include "controller/lease_sightings.h"
#include "controller/overlaid_objects.h"
#include "controller/takeover_rights.h"
#include "controller/takeover_state.h"
#include "event/loop.h"
#include "kube/attempts.h"
#include "kube/client.h"
#include "kube/transport.h"

namespace pintle::controller {

// Selects between a real write and a dry run of the API server.
enum class WriteMode { kReally, kDryRun };

class TakeoverCluster {
 public:
  // The loop must outlive this object, and must not be running when a function of this class is called.
  TakeoverCluster(event::Loop& loop, kube::Client client, TakeoverSettings settings)
      : loop_(loop), client_(std::move(client)), settings_(std::move(settings)) {}

  // Reads the objects from which the steps are decided.
  Result<TakeoverState> Read();
  // Returns a message for each object that uses a feature which Pintle does not have.
  Result<std::vector<std::string>> UnsupportedFeatures(const UnreadableListener& unreadable);
  // Returns whether the cluster has the namespace of the Machine API.
  Result<bool> HasMachineNamespace();
  // Returns nullopt if the cluster has no ClusterOperator of the Machine Config Operator; only OpenShift has one.
  Result<std::optional<api::ClusterOperator>> ReadClusterOperator();
  // Returns those of the rights that the holder lacks; without a holder, those that the client's own user lacks.
  Result<std::vector<Right>> LackingRights(const std::vector<Right>& rights,
                                           const std::optional<RightsHolder>& holder = {});
  // If somebody else has changed the object first, the error is kConflict, and the caller has to decide the step again.
  Result<> Write(const TakeoverWrite& write, WriteMode mode);
  // Runs the loop for this long.
  Result<> Wait(std::chrono::milliseconds time);

 private:
  // Sends a request, and returns the body of the answer.
  Result<std::string> Send(kube::ApiRequest request, kube::Repeatable repeatable,
                           const kube::Patience& patience = kube::Patience());
  Result<std::vector<ServerReplica>> ReadServerReplicas(const WholeDeployment& ours);
  Result<> ReadNodes(TakeoverState& state);
  Result<> ReadAnnotated(TakeoverState& state);
  Result<> ReadUnreadyServers(TakeoverState& state);
  Result<> ReadRemainingPods(const WholeObject& owner, TakeoverState& state);
  // Returns nullopt if the cluster does not have the object.
  template <typename T>
  Result<std::optional<T>> ReadOne(const kube::ObjectName& name);
  // Returns no objects if the cluster does not have the kind.
  template <typename T>
  Result<std::vector<T>> ReadAll(kube::Selection selection = {}, const UnreadableListener& unreadable = {});

  event::Loop& loop_;
  kube::Client client_;
  const TakeoverSettings settings_;
  const SystemClock clock_;
  LeaseSightings operator_sightings_;
  LeaseSightings controller_sightings_;
};

}  // namespace pintle::controller
