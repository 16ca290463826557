// SPDX-License-Identifier: Apache-2.0
#pragma once

// Forecasts the drains of nodes before they are updated.
//
// The rollout pass puts nodes that cannot be drained behind the other nodes.  When no other nodes are left, the nodes
// that cannot be drained are updated nevertheless; by then, the reason has been reported.
//
//     Changes changes = RolloutPass({.undrainable = forecasts.undrainable(), ...});
//     const pool::NodeNames awaited = forecasts.Await(changes, to_drain, view.nodes);
//     // Await() requests forecasts, and `changed` is called for each answer.  Nodes that are not in `awaited` may be
//     // updated at once.
//
// A forecast is an aid and no precondition: a node is updated as soon as its own forecast has arrived, and a pool waits
// for forecasts for a tenth of the time at most.

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "api/node.h"
#include "base/clock.h"
#include "base/result.h"
#include "controller/changes.h"
#include "drain/forecast.h"
#include "kube/call.h"
#include "pool/candidates.h"

namespace pintle::controller {

class DrainForecasts {
 public:
  using Answer = std::function<void(Result<std::vector<drain::Blocker>> blockers)>;
  // The signature is that of drain::Forecaster::Ask().
  using Ask =
      std::function<kube::Call(const std::string& node, std::span<const api::Node* const> nodes, Answer answer)>;

  struct Listener {
    std::function<void()> changed;  // Called for each answer to a forecast.
    // Called once for each reason why a node cannot be drained.  `pool` is the pool that was about to update the node.
    std::function<void(const std::string& node, const std::string& pool, const std::string& why)> hopeless;
    std::function<void(const std::string& node, const Error& error)> trouble;
  };

  // The clock must outlive this object.
  DrainForecasts(Ask ask, const Clock& clock, Listener listener)
      : ask_(std::move(ask)), clock_(clock), listener_(std::move(listener)) {}
  DrainForecasts(const DrainForecasts&) = delete;
  DrainForecasts& operator=(const DrainForecasts&) = delete;

  // Returns the nodes that the changes update and that have to wait for a forecast.  Only nodes in `to_drain` wait.  If
  // it is not known yet which nodes will be drained, `to_drain` is nullopt, and all nodes that the changes update wait.
  // While any node waits, the caller has to call this function again from time to time.  `nodes` is sorted by name.
  pool::NodeNames Await(const Changes& changes, const std::optional<std::set<std::string>>& to_drain,
                        std::span<const api::Node* const> nodes);

  // Returns the nodes that could not be drained according to their latest forecasts.
  const pool::NodeNames& undrainable() const { return undrainable_; }
  // Returns the obstacles of drains, by node.
  const std::map<std::string, std::string>& reasons() const { return reasons_; }

  void Clear();

 private:
  struct Forecast {
    std::string pool;
    bool is_requested = false;  // A forecast is being made.
    bool is_wanted = false;     // The node was about to be updated at the latest call of Await().
    // An answer that was fresh when the node was about to be updated stays valid until the node has been updated.
    bool stays_valid = false;
    MonotonicTime wanted_at;                   // The latest time at which the node was about to be updated.
    std::optional<MonotonicTime> known_since;  // The time of the latest answer.
    kube::Call call;
  };

  // The time that nodes of a pool have recently spent on waiting.
  struct RecentWait {
    MonotonicTime since;  // The beginning of the period in which the waiting is counted.
    std::chrono::nanoseconds spent = std::chrono::nanoseconds(0);
    std::optional<MonotonicTime> still_at;  // Set if nodes of the pool were still waiting at this time.
  };

  // Forgets the forecasts that nobody needs any more, and repeats those of undrainable nodes.  `wanted` are the nodes
  // that are about to be updated.
  void RenewForecasts(const std::set<std::string>& wanted, std::span<const api::Node* const> nodes);
  // Adds the time since the latest call of Await() to the waiting times of the pools that were waiting then.
  void CountWaiting();
  // Returns whether nodes of the pool may wait for longer, and records that they wait now.
  bool MayWait(const std::string& pool);
  // Returns whether the latest answer is still valid.
  bool IsFresh(const Forecast& forecast) const;
  // Returns whether a forecast for the node is known, and requests one if not.
  bool EnsureForecast(const NodeChange& change, std::span<const api::Node* const> nodes);
  void Begin(const std::string& node, std::span<const api::Node* const> nodes);
  void Answered(const std::string& node, const Result<std::vector<drain::Blocker>>& blockers);
  void MarkDrainable(const std::string& node);

  Ask ask_;
  const Clock& clock_;
  Listener listener_;
  std::map<std::string, Forecast> forecasts_;
  std::map<std::string, RecentWait> waiting_;  // The key is the pool.
  pool::NodeNames undrainable_;
  std::map<std::string, std::string> reasons_;
};

}  // namespace pintle::controller
