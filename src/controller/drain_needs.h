// SPDX-License-Identifier: Apache-2.0
#pragma once

// Decides whether a node has to be drained for its next config, with the planner that the node's agent uses.

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "controller/changes.h"
#include "controller/pause_report.h"
#include "controller/view.h"
#include "plan/plan.h"

namespace pintle::controller {

// Returns the plan by which agents go from one config to another.  Returns nullopt if `configs` lacks one of the two.
std::optional<plan::Plan> PlanBetween(const std::string& from, const std::string& to, const View& view,
                                      const WholeConfigs& configs);

// Decides which updates need a drain.
//
// The two whole configs of an update are needed to decide.  Configs are large, and a rollout may update the nodes of
// many pools at once, so only a few updates are decided at a time, and the decisions are kept until no node waits for
// them.
class DrainNeeds {
 public:
  using IsFetchDone = std::function<bool(const std::string& config)>;

  // Takes the updates that are about to begin, and drops the decisions about others.  If the settings of the cluster
  // have changed, all decisions are dropped.
  void Look(const Changes& changes, const View& view);
  // Returns the names of the configs that Decide() needs now.
  std::set<std::string> ConfigsToCompare() const;
  // Decides about some updates whose configs are fetched.  Returns true if another Look() and Decide() can decide about
  // more.
  bool Decide(const View& view, const WholeConfigs& configs, const IsFetchDone& is_fetch_done);
  // Returns the nodes whose update needs a drain, or nullopt as long as this is not decided for all of them.  A drain
  // is assumed if a config or the node is not known, or if only the desired image of the node changes.
  std::optional<std::set<std::string>> NodesToDrain(const Changes& changes, const View& view) const;

  void Clear() { needs_.clear(); }

 private:
  // The names of the config that nodes have, and of the config that they are to have.
  using Transition = std::pair<std::string, std::string>;

  static std::optional<Transition> TransitionOf(const NodeChange& change, const View& view);
  // Returns the transitions to decide about next.
  std::vector<Transition> Next() const;

  std::string settings_version_;
  std::map<Transition, std::optional<bool>> needs_;  // Nullopt means that it is not decided yet.
};

}  // namespace pintle::controller
