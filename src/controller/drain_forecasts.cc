// SPDX-License-Identifier: Apache-2.0
#include "controller/drain_forecasts.h"

#include <chrono>
#include <iterator>
#include <utility>

#include "api/annotations.h"
#include "controller/view.h"

namespace pintle::controller {
namespace {

// A forecast is valid for this long: pods and budgets change all the time.
constexpr auto kFresh = std::chrono::minutes(1);
// The forecast of an undrainable node is repeated for this long after the node was about to be updated.  By then, the
// node has probably been updated, or the config was taken back.
constexpr auto kRepeatedFor = std::chrono::hours(6);
// In each kWaitPeriod, the nodes of a pool wait for kLongestWait at most, since an answer can take long, or never come.
constexpr auto kLongestWait = std::chrono::minutes(1);
constexpr auto kWaitPeriod = std::chrono::minutes(10);

// Returns false for the only node of a cluster, which is never drained, and for a node that does not exist.
bool CanBeDrained(const api::Node* node) {
  return node != nullptr &&
         node->metadata.Annotation(api::kControlPlaneTopologyAnnotation) != api::kSingleReplicaTopology;
}

}  // namespace

pool::NodeNames DrainForecasts::Await(const Changes& changes, const std::optional<std::set<std::string>>& to_drain,
                                      std::span<const api::Node* const> nodes) {
  std::map<std::string, const NodeChange*> updates;
  for (const NodeChange& change : changes.nodes) {
    const bool may_drain = !to_drain || to_drain->contains(change.node);
    if (!change.target_text.empty() && may_drain && CanBeDrained(FindNamed<api::Node>(change.node, nodes))) {
      updates.emplace(change.node, &change);
    }
  }
  std::set<std::string> wanted;
  for (const auto& [node, change] : updates) wanted.insert(node);
  RenewForecasts(wanted, nodes);
  CountWaiting();

  pool::NodeNames awaited;
  for (const auto& [node, change] : updates) {
    if (to_drain && EnsureForecast(*change, nodes)) continue;
    if (MayWait(change->pool)) {
      awaited.insert(node);
    } else {
      listener_.trouble(node,
                        Error(ErrorKind::kUnavailable, "the forecast takes too long; the node is updated without it"));
    }
  }
  return awaited;
}

bool DrainForecasts::EnsureForecast(const NodeChange& change, std::span<const api::Node* const> nodes) {
  Forecast& forecast = forecasts_[change.node];
  forecast.pool = change.pool;
  forecast.is_wanted = true;
  forecast.wanted_at = clock_.Monotonic();
  forecast.stays_valid = forecast.stays_valid || IsFresh(forecast);
  if (!forecast.stays_valid && !forecast.is_requested) Begin(change.node, nodes);
  return forecast.stays_valid;
}

// Nobody needs the forecast of a node that is not about to be updated, unless the node is undrainable: such a node
// waits behind the others, and may have become drainable.  So its forecast is repeated, but not for ever: after
// kRepeatedFor, it is forgotten as well.
void DrainForecasts::RenewForecasts(const std::set<std::string>& wanted, std::span<const api::Node* const> nodes) {
  for (auto i = forecasts_.begin(); i != forecasts_.end();) {
    auto& [node, forecast] = *i;
    const bool is_gone = FindNamed<api::Node>(node, nodes) == nullptr;
    forecast.is_wanted = forecast.is_wanted && wanted.contains(node);
    forecast.stays_valid = forecast.stays_valid && wanted.contains(node);
    const bool is_needless = !wanted.contains(node) && clock_.Monotonic() - forecast.wanted_at >= kRepeatedFor;
    if (is_gone || is_needless) MarkDrainable(node);
    const bool is_undrainable = undrainable_.contains(node);
    if (is_undrainable && !forecast.is_requested && !IsFresh(forecast)) Begin(node, nodes);
    const bool forgets = is_gone || (!is_undrainable && !forecast.is_wanted && !IsFresh(forecast));
    i = forgets ? forecasts_.erase(i) : std::next(i);
  }
}

void DrainForecasts::CountWaiting() {
  const MonotonicTime now = clock_.Monotonic();
  for (auto& [pool, waiting] : waiting_) {
    if (waiting.still_at) waiting.spent += now - *std::exchange(waiting.still_at, std::nullopt);
  }
  std::erase_if(waiting_, [&](const auto& entry) { return now - entry.second.since >= kWaitPeriod; });
}

bool DrainForecasts::MayWait(const std::string& pool) {
  const MonotonicTime now = clock_.Monotonic();
  RecentWait& waiting = waiting_.try_emplace(pool, RecentWait{.since = now, .still_at = std::nullopt}).first->second;
  if (waiting.spent >= kLongestWait) return false;
  waiting.still_at = now;
  return true;
}

void DrainForecasts::Clear() {
  forecasts_.clear();
  waiting_.clear();
  undrainable_.clear();
  reasons_.clear();
}

bool DrainForecasts::IsFresh(const Forecast& forecast) const {
  return forecast.known_since && clock_.Monotonic() - *forecast.known_since < kFresh;
}

void DrainForecasts::Begin(const std::string& node, std::span<const api::Node* const> nodes) {
  Forecast& forecast = forecasts_.at(node);
  forecast.is_requested = true;
  forecast.call = ask_(node, nodes,
                       [this, node](const Result<std::vector<drain::Blocker>>& blockers) { Answered(node, blockers); });
}

void DrainForecasts::Answered(const std::string& node, const Result<std::vector<drain::Blocker>>& blockers) {
  Forecast& forecast = forecasts_.at(node);
  forecast.is_requested = false;
  forecast.known_since = clock_.Monotonic();
  forecast.stays_valid = forecast.is_wanted;
  // If a forecast fails, the rollout goes on as it would without forecasts.
  if (!blockers) listener_.trouble(node, blockers.error());
  if (blockers && drain::ProspectOf(*blockers) == drain::Prospect::kHopeless) {
    undrainable_.insert(node);
    const std::string why = drain::Summary(*blockers);
    if (std::exchange(reasons_[node], why) != why) listener_.hopeless(node, forecast.pool, why);
  } else {
    MarkDrainable(node);
  }
  listener_.changed();
}

void DrainForecasts::MarkDrainable(const std::string& node) {
  undrainable_.erase(node);
  reasons_.erase(node);
}

}  // namespace pintle::controller
