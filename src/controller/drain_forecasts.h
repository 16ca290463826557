// SPDX-License-Identifier: Apache-2.0
#pragma once

// What is known of the prospects of nodes that are about to be told of a new config.
//
// Before nodes are told, their drains are forecast.  Those that cannot be drained are put behind the others by the
// pass that chooses; they are told all the same when they are the only ones left, and people know why by then.
//
//     Changes changes = RolloutPass({.undrainable = forecasts.undrainable(), ...});
//     const pool::NodeNames awaited = forecasts.Await(changes, that_drain, view.nodes);
//     // It asks, and calls `changed` for each answer.  All others than those that are awaited may be told.
//
// A forecast is help and no condition: each node goes as soon as there is its own, whatever becomes of that later, and
// a pool waits for forecasts no longer than a tenth of the time.

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
  // As drain::Forecaster::Ask().
  using Ask =
      std::function<kube::Call(const std::string& node, std::span<const api::Node* const> nodes, Answer answer)>;

  struct Listener {
    std::function<void()> changed;
    // Once for each reason.  The pool is that of the node that was about to be told.
    std::function<void(const std::string& node, const std::string& pool, const std::string& why)> hopeless;
    std::function<void(const std::string& node, const Error& error)> trouble;
  };

  // The clock must outlive it.
  DrainForecasts(Ask ask, const Clock& clock, Listener listener)
      : ask_(std::move(ask)), clock_(clock), listener_(std::move(listener)) {}
  DrainForecasts(const DrainForecasts&) = delete;
  DrainForecasts& operator=(const DrainForecasts&) = delete;

  // The nodes that the changes tell something and that are to wait.  Those that will be drained wait for a forecast;
  // which these are may not be known yet, and then each waits.  To be asked again now and then while there are any.
  pool::NodeNames Await(const Changes& changes, const std::optional<std::set<std::string>>& that_drain,
                        std::span<const api::Node* const> nodes);

  const pool::NodeNames& undrainable() const { return undrainable_; }
  // By node: what is in the way of its drain.
  const std::map<std::string, std::string>& reasons() const { return reasons_; }

  void Clear();

 private:
  struct Forecast {
    std::string pool;
    bool is_asked = false;
    bool is_wanted = false;  // The node was about to be told the last time that somebody asked.
    std::optional<MonotonicTime> known_since;
    kube::Call call;
  };

  // How long nodes of a pool have waited of late.
  struct Waiting {
    MonotonicTime since;
    std::chrono::nanoseconds spent = std::chrono::nanoseconds(0);
    std::optional<MonotonicTime> still_at;  // Nodes of it were waiting then.
  };

  void ForgetOld(const std::set<std::string>& wanted, std::span<const api::Node* const> nodes);
  void CountWaiting();
  bool MayWait(const std::string& pool);
  bool IsFresh(const Forecast& forecast) const;
  bool Knows(const NodeChange& change, std::span<const api::Node* const> nodes);
  void Begin(const std::string& node, std::span<const api::Node* const> nodes);
  void Answered(const std::string& node, const Result<std::vector<drain::Blocker>>& blockers);
  void TakeForDrainable(const std::string& node);

  Ask ask_;
  const Clock& clock_;
  Listener listener_;
  std::map<std::string, Forecast> forecasts_;
  std::map<std::string, Waiting> waiting_;  // By pool.
  pool::NodeNames undrainable_;
  std::map<std::string, std::string> reasons_;
};

}  // namespace pintle::controller
