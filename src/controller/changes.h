// SPDX-License-Identifier: Apache-2.0
#pragma once

// The changes that a pass wants in the cluster, as data.
//
// Each change names the version of the object from which it was decided.  If the object has changed since then, nothing
// is written, and the next pass decides again.

#include <string>
#include <vector>

#include "api/machine_config_node.h"
#include "api/machine_config_pool.h"
#include "api/node.h"
#include "controller/pool_policies.h"
#include "kube/event_recorder.h"
#include "pool/target.h"

namespace pintle::controller {

struct NodeChange {
  std::string node;
  std::string resource_version;
  pool::NodePatch patch;
  // The target for messages: "MachineConfig: rendered-worker-1".  Empty if the patch does not assign a target.
  std::string target_text = {};
  std::string pool = {};  // The name of the node's pool.
};

// A change of the desired config and image in a node's MachineConfigNode.
struct MachineConfigNodeChange {
  std::string node;
  std::string resource_version;
  api::MachineConfigNodeSpec spec;
};

// The new status of a pool.
struct StatusChange {
  std::string pool;
  std::string resource_version;
  api::MachineConfigPoolStatus status;
};

// An event about a pool, emitted after the write that it reports.
struct Announcement {
  // The write that is reported: the pool's new status, or targets that were assigned to its nodes.
  enum class Cause { kStatus, kTargetUpdate };

  std::string pool;
  kube::EventKind kind;
  std::string reason;
  std::string message;
  Cause cause = Cause::kStatus;
};

struct Changes {
  std::vector<MachineConfigNodeChange> machine_config_nodes;
  std::vector<NodeChange> nodes;  // Changes that assign a target to a node come first.
  std::vector<StatusChange> statuses;
  std::vector<Announcement> announcements;
  // The next statuses of policies, also for pools that need no other change.
  std::vector<PolicyDecision> policies;

  // Returns whether the writer has nothing to do.  PolicyWatch writes the statuses of policies.
  bool is_empty() const {
    return machine_config_nodes.empty() && nodes.empty() && statuses.empty() && announcements.empty();
  }
};

// Merges the second patch of a node into the first one.  The second patch was decided for the node as it is after the
// first one.
void Join(pool::NodePatch& first, pool::NodePatch second);

// Returns the node as it is after the patch.
api::Node Patched(api::Node node, const pool::NodePatch& patch);

}  // namespace pintle::controller
