// SPDX-License-Identifier: Apache-2.0
#pragma once

// Decides which MachineConfigNodes have to be created, and which have to be removed because their nodes are gone.
//
// Each node owns one MachineConfigNode, except for nodes with Windows, which own none.  The controller and the node's
// agent may both create it.  It does not matter which of the two is first, because both create the same object.

#include <set>
#include <span>
#include <string>
#include <vector>

#include "api/machine_config_node.h"
#include "api/machine_config_pool.h"
#include "api/node.h"

namespace pintle::clusterops {

// Identifies a MachineConfigNode that has to be removed.  The uid protects a newer object with the same name.
struct StaleMachineConfigNode {
  std::string name;
  std::string uid;
};

struct MachineConfigNodeWork {
  std::vector<api::MachineConfigNode> missing;  // The complete objects to create.
  std::vector<StaleMachineConfigNode> stale;
};

struct MachineConfigNodeInputs {
  std::span<const api::Node* const> nodes;
  std::span<const api::MachineConfigPool* const> pools;
  std::span<const api::MachineConfigNode* const> known;  // The MachineConfigNodes that exist.
  // Nodes that exist and cannot be read.  No MachineConfigNode is created for them, and an existing one is kept.
  std::set<std::string, std::less<>> unreadable = {};
};

// Returns the objects to create and to remove.
MachineConfigNodeWork FindMachineConfigNodeWork(const MachineConfigNodeInputs& inputs);

}  // namespace pintle::clusterops
