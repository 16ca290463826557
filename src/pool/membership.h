// SPDX-License-Identifier: Apache-2.0
#pragma once

// Finds the pool that a node is in.
//
// A node is in at most one pool: the one whose config it gets.  If several pools select the node, a custom pool comes
// before worker, and master before all others.  A node that two custom pools select is in no pool.

#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "api/label_selector.h"
#include "api/machine_config_pool.h"
#include "api/node.h"
#include "base/result.h"

namespace pintle::pool {

// All pools that select a node.
struct SelectingPools {
  const api::MachineConfigPool* master = nullptr;
  const api::MachineConfigPool* worker = nullptr;
  std::vector<const api::MachineConfigPool*> custom = {};
};

class Pools {
 public:
  // Fails if any pool's selector is invalid.  The pools must outlive the returned object.
  static Result<Pools> Make(std::span<const api::MachineConfigPool* const> pools);

  // A node with Windows is selected by no pool.
  SelectingPools Selecting(const api::Node& node) const;
  // Returns a list that begins with the pool that the node is in.  If a custom pool and the worker pool both select the
  // node, the list ends with the worker pool.  The list is empty if no pool selects the node, and for a node with
  // Windows.  Fails if two custom pools select the node.
  Result<std::vector<const api::MachineConfigPool*>> Of(const api::Node& node) const;
  // Returns the pool that the node is in, or nullptr.  Fails if two custom pools select the node.
  Result<const api::MachineConfigPool*> PrimaryOf(const api::Node& node) const;

 private:
  // A pool and its compiled selector.
  struct CompiledPool {
    const api::MachineConfigPool* pool;
    api::Selector selector;
  };

  // The pools whose selector requires a label, by the key of this label.  Without this index, each node of a cluster
  // with a hundred pools would be compared with all of them.
  std::map<std::string, std::vector<CompiledPool>, std::less<>> by_label_;
  std::vector<CompiledPool> others_;  // The pools whose selector requires no label.
};

// Puts the pools that select a node in the order of Pools::Of().  Fails if two of them are custom pools.
Result<std::vector<const api::MachineConfigPool*>> InOrder(const SelectingPools& selecting, const api::Node& node);

bool IsWindows(const api::Node& node);

// Returns whether an agent has ever reported the node's current config.  Returns false for a node with Windows.
bool IsManaged(const api::Node& node);

}  // namespace pintle::pool
