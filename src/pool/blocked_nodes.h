// SPDX-License-Identifier: Apache-2.0
#pragma once

// Limits the size of what a rollout remembers about the nodes that gates block.
//
// The timeout of a gate about nodes runs for each node, so the memory has a time for each gate and node.  The memory is
// in the status of an object, and etcd refuses an object of more than 1.5 MiB.  So the memory has the names of only the
// first nodes of each gate.  The times of the others are in a text without names: 4 bytes of hash for each node, and 8
// more for each distinct time.
//
// The seconds that timeouts had run when they were stopped are kept in the same way.
//
// Two nodes with the same hash are rare; both then have the later of their times, or the smaller number of seconds.
// When even this form is too long, nodes are left out of it.  Such a node stays blocked, and its timeout begins when
// there is room for it.

#include <cstddef>
#include <span>

#include "api/rollout_policy.h"
#include "pool/node_state.h"

namespace pintle::pool {

// RolloutMemory::blocked and RolloutMemory::waited each have the names of at most this many nodes of a gate.
inline constexpr std::size_t kMostNamedNodesOfGate = 50;
// The texts of RolloutMemory::blocked_more and RolloutMemory::waited_more are together at most this long.
inline constexpr std::size_t kLongestBlockedMore = 512 << 10;

// Moves all entries of `blocked_more` that are about one of the nodes to `blocked`, and those of `waited_more` to
// `waited`.  Drops all other entries of these lists.
void ExpandBlocked(api::RolloutMemory& memory, std::span<const NodeState> nodes);

// Moves the entries of `blocked` and `waited` that exceed kMostNamedNodesOfGate to `blocked_more` and `waited_more`,
// which must be empty.  The same entries always become the same memory.
void CompactBlocked(api::RolloutMemory& memory);

}  // namespace pintle::pool
