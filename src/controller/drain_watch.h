// SPDX-License-Identifier: Apache-2.0
#pragma once

// Finds the nodes that have changed, and the time limits that their pools set for drains.
//
// Nodes that are in no pool are included: such a node may have dropped out of its pool during a drain, and its agent
// waits for an answer.

#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "base/result.h"
#include "controller/pool_members.h"
#include "controller/view.h"
#include "drain/settings.h"

namespace pintle::controller {

class DrainWatch {
 public:
  struct Listener {
    // Called for each node whose version, pool or pool's version has changed.
    std::function<void(const api::Node& node, const drain::Settings& settings)> changed;
    std::function<void(const std::string& node)> gone;  // Called for each node that does not exist any more.
    std::function<void(const std::string& pool, const Error& error)> trouble;  // Called once for each new error.
  };
  explicit DrainWatch(Listener listener) : listener_(std::move(listener)) {}

  void Look(const View& view, const PoolMembers& members);
  // Makes the next Look() report all nodes again.
  void Clear();

 private:
  Listener listener_;
  std::map<std::string, std::string> seen_;  // The versions of each node and of its pool.
  std::set<std::string> complaints_;         // The messages of the errors that the latest look has found.
};

}  // namespace pintle::controller
