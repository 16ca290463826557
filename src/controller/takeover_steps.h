// SPDX-License-Identifier: Apache-2.0
#pragma once

// Lists the changes that hand a cluster over from the Machine Config Operator to Pintle, and the changes that hand the
// cluster back.
//
// The steps are decided from what is in the cluster, each time anew.  So they can be run again after they were cut
// short, and a step counts as done if somebody else has made it.  docs/takeover.md has the reasons for their order.

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "api/config_map.h"
#include "api/lease.h"
#include "api/node.h"
#include "base/clock.h"
#include "controller/lease_sightings.h"
#include "controller/operator_kinds.h"
#include "json/value.h"
#include "kube/patch.h"

namespace pintle::controller {

// A replica of Pintle that serves Ignition.
struct ServerReplica {
  std::string pod;
  bool answers = false;  // It answers at the port of the Ignition server, and has the configs of all pools.
};

enum class TakeoverObject {
  kRecord,
  kClusterVersion,
  kDeployment,
  kDaemonSet,
  kLease,
  kNode,
  kPool,
  kControllerConfig,
  kKubeconfigData  // The ConfigMap kubeconfig-data.
};

// An object other than a Node to which Pintle's controller adds annotations, and to a pool also conditions.
struct AnnotatedObject {
  TakeoverObject object = TakeoverObject::kPool;
  api::ObjectMeta metadata = {};
  std::vector<std::string> conditions = {};  // The types of a pool's conditions, in the order of its status.
};

// The objects from which the steps are decided.  An object that the cluster lacks is unset.
struct TakeoverState {
  std::optional<WholeClusterVersion> cluster_version;
  std::optional<WholeDeployment> operators;   // The Machine Config Operator itself; `operator` is a word of C++.
  std::optional<WholeDeployment> controller;  // The Machine Config Operator's controller.
  std::optional<WholeDaemonSet> server;       // The Machine Config Operator's Ignition server.
  std::optional<WholeDaemonSet> daemon;       // The Machine Config Operator's daemon.
  std::optional<WholeDeployment> ours;        // Pintle's controller.
  std::optional<api::Lease> operator_lease;   // The lease of the Machine Config Operator itself.
  std::optional<api::Lease> controller_lease;
  std::optional<api::ConfigMap> record;  // The values before the takeover, for an undo.
  LeaseSight operator_sight = {};        // What is known about `operator_lease`.
  LeaseSight controller_sight = {};      // What is known about `controller_lease`.
  // The pods that have not ended yet, such as "a-1 on the node b", by the name of their Deployment or DaemonSet.
  // Contains only owners for which IsToHaveNoPods() is true, because their statuses do not count terminating pods.
  std::map<std::string, std::string, std::less<>> remaining_pods = {};
  // Known only if AreNodesNeeded() is true.
  std::vector<api::Node> nodes = {};
  std::set<std::string, std::less<>> nodes_with_daemon = {};  // The nodes that have a pod of the daemon.
  // The nodes for which there is a pod of the daemon that the scheduler has not placed yet.
  std::set<std::string, std::less<>> nodes_awaiting_daemon = {};
  // The pods of the operator's server that are not ready, by their nodes.  Known only if AreServersAwaited() is true.
  std::map<std::string, std::string, std::less<>> unready_servers = {};
  // The pools, the ControllerConfig and kubeconfig-data.  Known only if AreAnnotationsNeeded() is true.
  std::vector<AnnotatedObject> annotated = {};
  // Known once the old server has ended, if TakeoverSettings::with_server is true.
  std::vector<ServerReplica> server_replicas = {};
};

struct TakeoverSettings {
  std::string namespace_name = "openshift-machine-config-operator";
  std::string own_namespace = "pintle";
  std::string own_deployment = "pintle-controller";
  std::string own_account = "pintle-controller";           // The ServiceAccount of its replicas.
  std::string own_identity_prefix = "pintle-controller_";  // The identities of its replicas begin with this.
  std::string offer = "pintle-takeover-offer";             // The holder of a lease that only these replicas may take.
  bool with_server = false;                                // Hands over the Ignition server as well.
  bool with_daemons = false;                               // Gives nodes to the agents that stand by there.
  bool with_templates = false;                             // Compares generated configs before the first step.
  // If the holder of a lease has not written how long others have to leave the lease alone, this time is assumed.
  std::chrono::seconds hold = std::chrono::seconds(137);
};

struct TakeoverWrite {
  TakeoverObject object = TakeoverObject::kRecord;
  std::string namespace_name = {};
  std::string name = {};
  json::Value patch = {};                 // A JSON patch, or a whole ConfigMap that is created, or null for a deletion.
  kube::Part part = kube::Part::kObject;  // The part of the object that a JSON patch changes.
  bool is_creation = false;
  std::string version = {};   // The version of the object to delete.  An object with another version is not deleted.
  std::string in_words = {};  // Such as "Deployment a/b: spec.replicas from 1 to 0".
};

struct TakeoverStep {
  std::string name;
  bool is_done = false;
  std::optional<TakeoverWrite> write = {};  // The write to make now, if the step is not done.
  std::string waits_for = {};               // What the step waits for after its writes, or while it has none.
};

// Return all steps in their order.  Only the write of the first step that is not done may be made.  The very first step
// is about the record, without which no other step may be made.  StepsToUndo() returns no steps if there was no
// takeover.
std::vector<TakeoverStep> StepsToTakeOver(const TakeoverState& state, const TakeoverSettings& settings, WallTime now);
std::vector<TakeoverStep> StepsToUndo(const TakeoverState& state, const TakeoverSettings& settings, WallTime now);

// Returns why a takeover must not begin or go on, because its record is lost or damaged; "" if nothing is wrong.
std::string WhyTakeoverMustNotBegin(const TakeoverState& state, const TakeoverSettings& settings);
// Returns whether a takeover has begun and has taken a lease or a replica from the operator.  Before that, the operator
// still acts, and it can change anything that was checked.
bool HasTakenAnything(const TakeoverState& state, const TakeoverSettings& settings);
// Returns a notice if the ClusterVersion has an override for the operator's Deployment although there is no record of a
// takeover, and "" otherwise.  Undo leaves this override alone, because others may have made it.
std::string NoticeOfOverride(const TakeoverState& state, const TakeoverSettings& settings);
// Returns whether a Deployment or a DaemonSet of the operator should have no pods: it has no replicas, or it has the
// node selector of a takeover, which matches no node.
bool IsToHaveNoPods(const WholeObject& owner);
// Returns whether the nodes have to be read, because agents may have nodes or will get them.
bool AreNodesNeeded(const TakeoverState& state, const TakeoverSettings& settings);
// Returns whether TakeoverState::annotated has to be read, because undo removes annotations and conditions.
bool AreAnnotationsNeeded(const TakeoverState& state);
// Returns whether undo waits for pods of the operator's server, so that these pods have to be read.
bool AreServersAwaited(const TakeoverState& state);
// Returns whether the old server runs on no machine any more.
bool HasServerEnded(const TakeoverState& state);
// Returns why the old server has to stay: Pintle's server would not begin in its place.  Returns "" if the old server
// can end.
std::string WhyServerMustStay(const TakeoverState& state, const TakeoverSettings& settings);
// Returns the port of the Ignition server in the pods of a Deployment, or nullopt if they serve none.
std::optional<std::int64_t> IgnitionPortOf(const WholeDeployment& deployment);

// Returns the first step that is not done, or nullptr.
const TakeoverStep* NextOf(const std::vector<TakeoverStep>& steps);

}  // namespace pintle::controller
