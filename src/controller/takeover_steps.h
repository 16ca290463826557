// SPDX-License-Identifier: Apache-2.0
#pragma once

// Lists the changes that hand a cluster over from the Machine Config Operator to Pintle, and those that undo this.
//
// The steps are decided from what is in the cluster, each time anew.  So they can be run again after they were cut
// short, and a step that somebody else has made is done.  docs/takeover.md has the reasons for their order.

#include <chrono>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "api/config_map.h"
#include "api/lease.h"
#include "base/clock.h"
#include "controller/operator_kinds.h"
#include "json/value.h"

namespace pintle::controller {

// The objects that matter, without those that the cluster lacks.
struct TakeoverState {
  std::optional<WholeClusterVersion> cluster_version;
  std::optional<WholeDeployment> operators;
  std::optional<WholeDeployment> controller;
  std::optional<WholeDaemonSet> server;
  std::optional<WholeDeployment> ours;
  std::optional<api::Lease> operator_lease;
  std::optional<api::Lease> controller_lease;
  std::optional<api::ConfigMap> record;
};

struct TakeoverSettings {
  std::string namespace_name = "openshift-machine-config-operator";
  std::string own_namespace = "pintle";
  std::string own_deployment = "pintle-controller";
  std::string own_identity = "pintle-controller_";  // The beginning of the identities of its replicas.
  bool with_server = false;                         // Whether to hand over the Ignition server as well.
  // A lease is held for this long if its holder has not written how long others have to wait.
  std::chrono::seconds hold = std::chrono::seconds(137);
};

enum class TakeoverObject { kRecord, kClusterVersion, kDeployment, kDaemonSet, kLease };

struct TakeoverWrite {
  TakeoverObject object = TakeoverObject::kRecord;
  std::string namespace_name = {};
  std::string name = {};
  json::Value patch = {};  // A JSON patch, or a whole ConfigMap that is created, or null for a deletion.
  bool is_creation = false;
  std::string in_words = {};  // "Deployment a/b: spec.replicas from 1 to 0"
};

struct TakeoverStep {
  std::string name;
  bool is_done = false;
  std::optional<TakeoverWrite> write = {};  // To be made now, if the step is not done.
  std::string waits_for = {};               // What the step waits for after its writes, or while it has none.
};

// Returns all steps in their order.  Only the write of the first one that is not done may be made.
std::vector<TakeoverStep> StepsToTakeOver(const TakeoverState& state, const TakeoverSettings& settings, WallTime now);
std::vector<TakeoverStep> StepsToUndo(const TakeoverState& state, const TakeoverSettings& settings, WallTime now);

// Returns the first step that is not done, or nullptr.
const TakeoverStep* NextOf(const std::vector<TakeoverStep>& steps);

}  // namespace pintle::controller
