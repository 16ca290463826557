// SPDX-License-Identifier: Apache-2.0
#pragma once

// What is known of the prospects of nodes that are about to be told of a new config.
//
// Before nodes are told, their drains are forecast.  Those that cannot be drained are put behind the others by the
// pass that chooses; they are told all the same when they are the only ones left, and people know why by then.
//
//     Changes changes = RolloutPass({.undrainable = forecasts.undrainable(), ...});
//     if (!forecasts.Know(changes, view.nodes)) return;   // It asks, and calls `changed` when it knows.

#include <functional>
#include <map>
#include <optional>
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

  // Whether the prospect of each node is known that is told something.  One that never drains needs none.
  bool Know(const Changes& changes, std::span<const api::Node* const> nodes);

  const pool::NodeNames& undrainable() const { return undrainable_; }
  // By node: what is in the way of its drain.
  const std::map<std::string, std::string>& reasons() const { return reasons_; }

  void Clear();

 private:
  struct Forecast {
    std::string pool;
    bool is_asked = false;
    std::optional<MonotonicTime> known_since;
    kube::Call call;
  };

  void ForgetOld(std::span<const api::Node* const> nodes);
  bool IsFresh(const Forecast& forecast) const;
  void Begin(const std::string& node, std::span<const api::Node* const> nodes);
  void Answered(const std::string& node, const Result<std::vector<drain::Blocker>>& blockers);
  void TakeForDrainable(const std::string& node);

  Ask ask_;
  const Clock& clock_;
  Listener listener_;
  std::map<std::string, Forecast> forecasts_;
  pool::NodeNames undrainable_;
  std::map<std::string, std::string> reasons_;
};

}  // namespace pintle::controller
