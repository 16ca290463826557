// SPDX-License-Identifier: Apache-2.0
#pragma once

// Which nodes have changed, and how long the drain of each may take by its pool.
//
// A node that is in no pool is seen, too: it may have fallen out of its pool in the middle of a drain, and its agent
// waits for an answer.

#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "base/result.h"
#include "controller/rosters.h"
#include "controller/view.h"
#include "drain/settings.h"

namespace pintle::controller {

class DrainWatch {
 public:
  struct Listener {
    std::function<void(const api::Node& node, const drain::Settings& settings)> changed;
    std::function<void(const std::string& node)> gone;
    std::function<void(const std::string& pool, const Error& error)> trouble;  // Once for each that comes up.
  };
  explicit DrainWatch(Listener listener) : listener_(std::move(listener)) {}

  void Look(const View& view, const Rosters& rosters);
  // Sees all anew.
  void Clear();

 private:
  Listener listener_;
  std::map<std::string, std::string> seen_;  // Which version of each node, and of its pool.
  std::set<std::string> complaints_;
};

}  // namespace pintle::controller
