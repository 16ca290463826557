// SPDX-License-Identifier: Apache-2.0
#pragma once

// Rules that hold for nodes of the control plane only.
//
// These nodes run etcd, which works only while more than half of its members do.  Masters, and the arbiter of a cluster
// that has one, are therefore updated as if they were one pool, masters first.  Their labels and taints decide whether
// users' pods may run on them.

#include <optional>
#include <string>
#include <string_view>

#include "api/node.h"
#include "pool/target.h"

namespace pintle::pool {

// The topology of a cluster of two masters and an arbiter.  The arbiter exists only to give etcd a majority.
inline constexpr std::string_view kArbiterTopology = "HighlyAvailableArbiter";

// Returns how many masters may be unavailable at once: none while an arbiter is unavailable.
int MasterBudget(int max_unavailable, std::size_t unavailable_arbiters);

// The facts about the masters that decide whether arbiters have to wait for them.
struct Masters {
  bool paused = false;
  std::size_t unavailable = 0;  // The number of masters that are unavailable.
  std::size_t candidates = 0;   // The number of masters that could be updated next.
};

// Returns why arbiters must not be updated now, or nullopt if they may be.
std::optional<std::string> WhyArbitersWait(const Masters& masters);

// Selects the pods that may run on masters.
enum class MasterScheduling { kEveryPod, kControlPlaneOnly };

// Returns the changes to a master's labels and taints that its role requires.  The patch is empty if there are none.
NodePatch MasterRolePatch(const api::Node& master, MasterScheduling scheduling);

// Returns a patch that adds or removes the taint for an update in progress, so that the scheduler avoids nodes that
// have not been updated yet.  The patch is empty if the node needs no change.
NodePatch UpdateInProgressPatch(const NodeState& node, const Target& target);

}  // namespace pintle::pool
