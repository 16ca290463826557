// SPDX-License-Identifier: Apache-2.0
#pragma once

// Chooses which nodes of a pool are updated next, and how many of them at once.

#include <cstddef>
#include <functional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "pool/node_state.h"
#include "pool/target.h"

namespace pintle::pool {

// Positions in a list of nodes.
using NodeIndices = std::vector<std::size_t>;
using NodeNames = std::set<std::string, std::less<>>;

NodeIndices Unavailable(std::span<const NodeState> nodes);

struct Candidates {
  NodeIndices nodes;  // All nodes that could be assigned the target, in the order of the list.
  int capacity = 0;   // How many of them may be assigned it now.
};

// Unavailable nodes use up capacity, and so do nodes that were assigned the target and fail to reach it: their fault
// might pass, and then they would update at the same time as others.
Candidates FindCandidates(const Target& target, std::span<const NodeState> nodes, int max_unavailable);

// Returns the first `capacity` of the candidates in the order in which they are updated.  When there are too many, one
// zone is done after the other, and within a zone the oldest node comes first; nodes that are in no zone come last.
// Nodes that cannot be drained now come behind all of these: they would use up capacity without getting anywhere.
NodeIndices PickFirst(std::span<const NodeState> nodes, NodeIndices candidates, int capacity,
                      const NodeNames& undrainable = {});

// Returns the nodes that assigning the target cannot make less available: they are unavailable already and do not have
// it yet, so that they need no capacity.  This is how a bad config that was taken back frees the nodes that it broke.
// A node that is unavailable only because somebody cordoned it is left alone.
NodeIndices FindRecovering(const Target& target, std::span<const NodeState> nodes);

}  // namespace pintle::pool
