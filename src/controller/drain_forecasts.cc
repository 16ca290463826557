// SPDX-License-Identifier: Apache-2.0
#include "controller/drain_forecasts.h"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <utility>

#include "api/annotations.h"

namespace pintle::controller {
namespace {

// Pods and budgets change all the time, and a node that could not be drained may be drainable by now.
constexpr auto kFresh = std::chrono::minutes(1);

const api::Node* NodeNamed(const std::string& name, std::span<const api::Node* const> nodes) {
  const auto node =
      std::find_if(nodes.begin(), nodes.end(), [&](const api::Node* one) { return one->metadata.name == name; });
  return node == nodes.end() ? nullptr : *node;
}

bool Drains(const api::Node* node) {
  return node != nullptr &&
         node->metadata.Annotation(api::kControlPlaneTopologyAnnotation) != api::kSingleReplicaTopology;
}

}  // namespace

bool DrainForecasts::Know(const Changes& changes, std::span<const api::Node* const> nodes) {
  ForgetOld(nodes);
  bool knows_all = true;
  for (const NodeChange& change : changes.nodes) {
    if (change.told.empty() || !Drains(NodeNamed(change.node, nodes))) continue;
    Forecast& forecast = forecasts_[change.node];
    forecast.pool = change.pool;
    if (IsFresh(forecast)) continue;
    knows_all = false;
    if (!forecast.is_asked) Begin(change.node, nodes);
  }
  return knows_all;
}

// One that could not be drained is asked about again although it is nobody's turn: it may be drainable by now.
void DrainForecasts::ForgetOld(std::span<const api::Node* const> nodes) {
  for (auto i = forecasts_.begin(); i != forecasts_.end();) {
    auto& [node, forecast] = *i;
    const bool is_old = !forecast.is_asked && !IsFresh(forecast);
    const bool is_gone = NodeNamed(node, nodes) == nullptr;
    if (is_old && !is_gone && undrainable_.contains(node)) Begin(node, nodes);
    const bool forgets = is_gone || (is_old && !undrainable_.contains(node));
    if (is_gone) TakeForDrainable(node);
    i = forgets ? forecasts_.erase(i) : std::next(i);
  }
}

void DrainForecasts::Clear() {
  forecasts_.clear();
  undrainable_.clear();
  reasons_.clear();
}

bool DrainForecasts::IsFresh(const Forecast& forecast) const {
  return forecast.known_since && clock_.Monotonic() - *forecast.known_since < kFresh;
}

void DrainForecasts::Begin(const std::string& node, std::span<const api::Node* const> nodes) {
  Forecast& forecast = forecasts_.at(node);
  forecast.is_asked = true;
  forecast.call = ask_(node, nodes,
                       [this, node](const Result<std::vector<drain::Blocker>>& blockers) { Answered(node, blockers); });
}

void DrainForecasts::Answered(const std::string& node, const Result<std::vector<drain::Blocker>>& blockers) {
  Forecast& forecast = forecasts_.at(node);
  forecast.is_asked = false;
  forecast.known_since = clock_.Monotonic();
  // Where nothing is known the rollout goes on as it would without forecasts.
  if (!blockers) listener_.trouble(node, blockers.error());
  if (blockers && drain::ProspectOf(*blockers) == drain::Prospect::kHopeless) {
    undrainable_.insert(node);
    const std::string why = drain::Summary(*blockers);
    if (std::exchange(reasons_[node], why) != why) listener_.hopeless(node, forecast.pool, why);
  } else {
    TakeForDrainable(node);
  }
  listener_.changed();
}

void DrainForecasts::TakeForDrainable(const std::string& node) {
  undrainable_.erase(node);
  reasons_.erase(node);
}

}  // namespace pintle::controller
