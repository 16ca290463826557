// SPDX-License-Identifier: Apache-2.0
#pragma once

// What a pass wants changed in the cluster, as data.
//
// Each change names the version of the object that it was decided by.  When the object is no longer that one, nothing
// is written and the next pass decides anew.

#include <string>
#include <vector>

#include "api/machine_config_node.h"
#include "api/machine_config_pool.h"
#include "api/node.h"
#include "kube/event_recorder.h"
#include "pool/target.h"

namespace pintle::controller {

struct NodeChange {
  std::string node;
  std::string resource_version;
  pool::NodePatch patch;
  std::string told =
      {};  // Of what the node is told, for people: "MachineConfig: rendered-worker-1".  Empty: of nothing.
  std::string pool = {};
};

// What a node's MachineConfigNode says that it is to become.
struct MachineConfigNodeChange {
  std::string node;
  std::string resource_version;
  api::MachineConfigNodeSpec spec;
};

struct StatusChange {
  std::string pool;
  std::string resource_version;
  api::MachineConfigPoolStatus status;
};

// An Event about a pool, for when what it tells of has been written.
struct Announcement {
  enum class Of { kStatus, kTelling };  // The pool's new status, or that its nodes are told something.

  std::string pool;
  kube::EventKind kind;
  std::string reason;
  std::string message;
  Of of = Of::kStatus;
};

struct Changes {
  std::vector<MachineConfigNodeChange> machine_config_nodes;
  std::vector<NodeChange> nodes;  // Those that are told something first.
  std::vector<StatusChange> statuses;
  std::vector<Announcement> announcements;

  bool is_empty() const {
    return machine_config_nodes.empty() && nodes.empty() && statuses.empty() && announcements.empty();
  }
};

// Does both of two changes of a node, of which the second was decided when the first was done.
void Join(pool::NodePatch& first, pool::NodePatch second);

// The node as it will be.
api::Node Patched(api::Node node, const pool::NodePatch& patch);

}  // namespace pintle::controller
