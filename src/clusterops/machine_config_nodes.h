// SPDX-License-Identifier: Apache-2.0
#pragma once

// Decides which MachineConfigNodes a cluster lacks, and which are about nodes that are gone.
//
// There is one for each node, and the node owns it.  Where several writers could create it, the first one wins: they
// all create the same object.

#include <set>
#include <span>
#include <string>
#include <vector>

#include "api/machine_config_node.h"
#include "api/machine_config_pool.h"
#include "api/node.h"

namespace pintle::clusterops {

// A MachineConfigNode that is to be removed, and no other one with its name.
struct StaleMachineConfigNode {
  std::string name;
  std::string uid;
};

struct MachineConfigNodeWork {
  std::vector<api::MachineConfigNode> missing;  // Ready to be created.
  std::vector<StaleMachineConfigNode> stale;
};

struct MachineConfigNodeInputs {
  std::span<const api::Node* const> nodes;
  std::span<const api::MachineConfigPool* const> pools;
  std::span<const api::MachineConfigNode* const> known;
  // Nodes that exist and cannot be read.  Nothing is created for them, and theirs is kept.
  std::set<std::string, std::less<>> unreadable = {};
};

MachineConfigNodeWork WorkOn(const MachineConfigNodeInputs& inputs);

}  // namespace pintle::clusterops
