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
using PoolNames = std::set<std::string, std::less<>>;

// Returns the nodes for which NodeState::is_unavailable() is true.
NodeIndices Unavailable(std::span<const NodeState> nodes);

struct Candidates {
  NodeIndices nodes;  // The nodes that are ready and not assigned the target, in the order of the list.
  int capacity = 0;   // How many of these nodes may be assigned the target now.
};

// Finds the candidates, or none if there is no capacity.  Unavailable nodes use up capacity, and so do nodes that were
// assigned the target and fail to reach it: their fault might pass, and then they would update at the same time as
// others.
Candidates FindCandidates(const Target& target, std::span<const NodeState> nodes, int max_unavailable);

// Returns the first `capacity` candidates in the order in which they are updated.  If there are more candidates than
// `capacity`, nodes are updated zone by zone, and in each zone the oldest node comes first.  Nodes without a zone come
// behind those with one.  The nodes in `undrainable` cannot be drained now.  They come last, because they would use up
// capacity without progress.
NodeIndices PickFirst(std::span<const NodeState> nodes, NodeIndices candidates, int capacity,
                      const NodeNames& undrainable = {});

// Returns the nodes that are unavailable already and are not assigned the target yet.  An update cannot make them less
// available, so they need no capacity.  When an administrator takes back a bad config, the nodes that it broke are
// updated in this way.  A node that is unavailable only because somebody cordoned it is left out.
NodeIndices FindUnavailableToUpdate(const Target& target, std::span<const NodeState> nodes);

}  // namespace pintle::pool
