// SPDX-License-Identifier: Apache-2.0
#pragma once

// Finds out whether a node could be drained now, without touching it.
//
//     call = forecaster.Ask(node, all_nodes, [](Result<std::vector<Blocker>> blockers) { ... });
//     switch (ProspectOf(*blockers)) ...    // Summary(*blockers) says it to people
//
// Whoever rolls something out asks before it tells a node, tells another one first when the prospect is kHopeless, and
// says why.  ForecastDrain() does the arithmetic; the API server is then asked about each pod that seems free to go, in
// earnest but for doing it, since webhooks and quotas may be against it, too.

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

  // The loop and the clock must outlive it.
  Forecaster(event::Loop& loop, kube::Client client, const Clock& clock);

  // Of the nodes, which are looked at in this call only, those are of interest that could take the pods; they are not
  // looked at when they were a moment ago.  `done` is called from the loop, once, unless the call is destroyed before.
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
  std::weak_ptr<Places> places_;  // For as long as a question is open.
};

}  // namespace pintle::drain
