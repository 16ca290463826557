// SPDX-License-Identifier: Apache-2.0
#pragma once

// Which nodes are next, and how many of them at once.

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

// Places in a list of nodes.
using NodeIndices = std::vector<std::size_t>;
using NodeNames = std::set<std::string, std::less<>>;

NodeIndices Unavailable(std::span<const NodeState> nodes);

struct Candidates {
  NodeIndices nodes;  // All that could be told of the target, in the order of the list.
  int capacity = 0;   // How many of them may be.
};

// Unavailable nodes take from what may be unavailable, and so do nodes that fail to become what they should: what ails
// them might pass, and then they would be at it together with others.
Candidates FindCandidates(const Target& target, std::span<const NodeState> nodes, int max_unavailable);

// The first `capacity` of the candidates in the order in which they are told.  When there are too many, one zone is
// done after the other, and within a zone the oldest node comes first; nodes that are in no zone come last.  Behind all
// of these come the nodes that cannot be drained now: they would take capacity and get nowhere.
NodeIndices PickFirst(std::span<const NodeState> nodes, NodeIndices candidates, int capacity,
                      const NodeNames& undrainable = {});

// Nodes that cannot be made less available by telling them of the target: already unavailable, and not yet told.  They
// need no capacity.  This is how a bad config that was taken back frees the nodes that it broke.  A node which is
// unavailable only since somebody cordoned it is left alone.
NodeIndices FindRecovering(const Target& target, std::span<const NodeState> nodes);

}  // namespace pintle::pool
