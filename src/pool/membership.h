// SPDX-License-Identifier: Apache-2.0
#pragma once

// Finds the pool that a node is in.
//
// A node is in at most one pool: the one whose config it gets.  A custom pool comes before worker, and master before
// all others; two custom pools are a mistake that leaves the node in none.

#include <span>
#include <string>
#include <utility>
#include <vector>

#include "api/label_selector.h"
#include "api/machine_config_pool.h"
#include "api/node.h"
#include "base/result.h"

namespace pintle::pool {

class Pools {
 public:
  // Fails when any pool's selector is invalid.  The pools must outlive this.
  static Result<Pools> Make(std::span<const api::MachineConfigPool* const> pools);

  // Returns all pools that select a node, the one that it is in first.  The list is empty for a node that we do not
  // manage.
  Result<std::vector<const api::MachineConfigPool*>> Of(const api::Node& node) const;
  // Returns the pool that the node is in, or nullptr.
  Result<const api::MachineConfigPool*> PrimaryOf(const api::Node& node) const;

 private:
  std::vector<std::pair<const api::MachineConfigPool*, api::Selector>> pools_;
};

bool IsWindows(const api::Node& node);

// Returns whether the node's agent ever ran.
bool IsManaged(const api::Node& node);

}  // namespace pintle::pool
