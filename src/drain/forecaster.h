// SPDX-License-Identifier: Apache-2.0
#pragma once

// Finds out whether a node could be drained now, without touching it.
//
//     call = forecaster.Ask(node, all_nodes, [](Result<std::vector<Blocker>> blockers) { ... });
//     switch (ProspectOf(*blockers)) ...    // Summary(*blockers) is the text for people
//
// A rollout asks before it updates a node.  If the prospect is kHopeless, the rollout updates another node first and
// reports why.  ForecastDrain() evaluates the budgets.  For each pod that they do not keep, the API server is then
// asked for a dry run of the eviction, because webhooks and quotas may also refuse it.

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "api/node.h"
#include "base/clock.h"
#include "base/result.h"
#include "drain/budgets.h"
#include "drain/forecast.h"
#include "drain/turns.h"
#include "kube/client.h"

namespace pintle::drain {

class Forecaster {
 public:
  using Done = std::function<void(Result<std::vector<Blocker>> blockers)>;

  // The loop and the clock must outlive this object.
  Forecaster(event::Loop& loop, kube::Client client, const Clock& clock);

  // `nodes` are the nodes that could run the pods.  This call copies them, unless other questions that are still open
  // have a recent copy.  `done` is called from the loop, once, unless the call is destroyed before.
  kube::Call Ask(const std::string& node, std::span<const api::Node* const> nodes, Done done);

 private:
  class Question;
  struct Places;

  std::shared_ptr<const Places> PlacesAmong(std::span<const api::Node* const> nodes);

  kube::Client client_;
  const Clock& clock_;
  Budgets budgets_;
  Turns questions_;
  Turns evictions_;
  std::weak_ptr<Places> places_;  // Owned by the open questions.
};

}  // namespace pintle::drain
