// SPDX-License-Identifier: Apache-2.0
#pragma once

// What is different about the nodes of the control plane.
//
// They carry etcd, which lives as long as more than half of its members do.  Masters and the arbiter, when a cluster
// has one, are therefore told as if they were one pool, masters first.  And their labels and taints say whether pods of
// users may run on them.

#include <optional>
#include <string>
#include <string_view>

#include "api/node.h"
#include "pool/target.h"

namespace pintle::pool {

// The topology of a cluster of two masters and an arbiter, which only helps etcd to decide.
inline constexpr std::string_view kArbiterTopology = "HighlyAvailableArbiter";

// How many masters may be unavailable while some arbiters are.
int MasterBudget(int max_unavailable, std::size_t unavailable_arbiters);

// How the masters are doing, as far as arbiters have to wait for them.
struct Masters {
  bool paused = false;
  std::size_t unavailable = 0;
  std::size_t candidates = 0;
};

// Why arbiters are told nothing now, or nothing when it is their turn.
std::optional<std::string> WhyArbitersWait(const Masters& masters);

enum class MasterScheduling { kEveryPod, kControlPlaneOnly };

// What to change on a master so that its labels and taints say what it is for.  Empty when nothing is.
NodePatch MasterUpkeep(const api::Node& master, MasterScheduling scheduling);

// What to change on a node so that the scheduler knows whether it has an update ahead.  Empty when nothing is.
NodePatch UpdateInProgressUpkeep(const NodeState& node, const Target& target);

}  // namespace pintle::pool
