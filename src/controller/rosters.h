// SPDX-License-Identifier: Apache-2.0
#pragma once

// Which nodes are in which pool, worked out once for all of them.
//
// What keeps a node out of every pool, or a pool without nodes, is said in the status of that pool: elsewhere nobody
// looks for it.

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "controller/view.h"
#include "pool/node_state.h"

namespace pintle::controller {

// Why a pool is not what its author will have meant, as the reason and the message of a condition.
struct Mistake {
  std::string reason;
  std::string message;
};

struct Rosters {
  std::map<std::string, std::vector<pool::NodeState>, std::less<>> nodes;  // By pool.
  std::map<std::string, Mistake, std::less<>> mistakes;                    // By pool.
  // That no pool selects.  Those with Windows never are in one.
  std::vector<const api::Node*> in_no_pool;
  // Masters that a custom pool selects as well.  They stay masters.
  std::vector<std::string> masters_wanted_elsewhere;

  // The nodes of a pool; none for one that is not known.
  const std::vector<pool::NodeState>& Of(std::string_view pool) const;
};

// The view must outlive them.
Rosters MakeRosters(const View& view);

}  // namespace pintle::controller
