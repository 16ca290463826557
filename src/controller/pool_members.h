// SPDX-License-Identifier: Apache-2.0
#pragma once

// The nodes of each pool, computed once for all pools.
//
// Some mistakes in pools keep a node out of every pool, or leave a pool without nodes.  The mistakes are reported in
// the statuses of these pools, where people look first.

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "controller/view.h"
#include "pool/node_state.h"

namespace pintle::controller {

// The reason and message of a condition about a mistake in a pool, or about a part of the pool that cannot be read.
struct Mistake {
  std::string reason;
  std::string message;
};

struct PoolMembers {
  std::map<std::string, std::vector<pool::NodeState>, std::less<>> nodes;  // The key is the pool.
  std::map<std::string, Mistake, std::less<>> mistakes;                    // The key is the pool.
  // The nodes that no pool selects.  Nodes with Windows are left out.
  std::vector<const api::Node*> in_no_pool;
  // Masters that a custom pool selects as well.  They stay in the pool of the masters.
  std::vector<std::string> masters_wanted_elsewhere;

  // Returns the nodes of a pool; none if the pool is unknown.
  const std::vector<pool::NodeState>& Of(std::string_view pool) const;
};

// The view must outlive the members.
PoolMembers MakePoolMembers(const View& view);

}  // namespace pintle::controller
