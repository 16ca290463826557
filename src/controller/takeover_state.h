// SPDX-License-Identifier: Apache-2.0
#pragma once

// The state of a cluster that is taken over from the Machine Config Operator, and a step that changes this state.

#include <chrono>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "api/config_map.h"
#include "api/lease.h"
#include "api/meta.h"
#include "api/node.h"
#include "controller/lease_sightings.h"
#include "controller/operator_kinds.h"
#include "json/value.h"
#include "kube/patch.h"

namespace pintle::controller {

// A pod of Pintle that serves Ignition, or will, or did a moment ago.
struct ServerReplica {
  enum class Phase { kStarts, kRuns, kEnds };

  std::string pod;
  std::string node = {};  // Empty while the pod has no node.
  Phase phase = Phase::kRuns;
  bool answers = false;  // It runs, its Ignition server answers, and it has the configs of all pools.
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

// An object other than a Node to which Pintle's controller adds annotations, and conditions as well if it is a pool.
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
  // All pods of `ours` that have not ended.  Known once the old server has ended, if TakeoverSettings::with_server is
  // true.
  std::vector<ServerReplica> server_replicas = {};
};

struct TakeoverSettings {
  std::string namespace_name = "openshift-machine-config-operator";
  std::string own_namespace = "pintle";
  std::string own_deployment = "pintle-controller";
  std::string own_account = "pintle-controller";           // The ServiceAccount of its replicas.
  std::string own_identity_prefix = "pintle-controller_";  // The identities of its replicas begin with this.
  std::string offer = "pintle-takeover-offer";             // Only these replicas take a lease with this holder.
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

}  // namespace pintle::controller
