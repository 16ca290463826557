// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>

#include <algorithm>
#include <array>

#include "api/annotations.h"
#include "base/first_characters.h"
#include "base/printable.h"
#include "pool/follower.h"

namespace pintle::pool {

std::string_view Follower::DomainOf(std::size_t i) const {
  // Nodes without the label come last.
  static constexpr std::string_view kBehindAll = "\xff";
  if (policy_.order_label.empty()) return "";
  const std::string* const value = api::Find(nodes_[i].node().metadata.labels, policy_.order_label);
  return value == nullptr ? kBehindAll : std::string_view(*value);
}

bool Follower::CanOnlyGain(std::size_t i) const {
  const NodeState& node = nodes_[i];
  if (standings_[i].is_assigned) return false;
  if (target_.IsCurrentOf(node)) return true;
  return node.is_unavailable() && (node.is_failing() || Has(memory_.broken, node.name()));
}

bool Follower::IsInWindow(std::size_t i) const {
  if (is_overridden_) return true;
  if (policy_.windows.IsFrozenAt(now_)) return false;
  if (IsWindowOpen()) return true;
  return policy_.are_windows_for_disruptions_only && inputs_.undisruptive != nullptr &&
         inputs_.undisruptive->contains(nodes_[i].name()) && !GetsAnotherImage(i);
}

bool Follower::GetsAnotherImage(std::size_t i) const {
  return nodes_[i].current_image().value_or("") != situation_.layering.image();
}

std::string Follower::WhyNotStaged() const {
  if (!policy_.stages_all) return "";
  std::vector<std::string> waiting;
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    // A node that an earlier target has broken cannot stage another one, which may be the one that repairs it.
    const bool is_broken = nodes_[i].is_failing() && Has(memory_.broken, nodes_[i].name());
    if (standings_[i].is_assigned || is_broken) continue;
    const api::ObjectMeta& metadata = nodes_[i].node().metadata;
    const std::string& why = metadata.Annotation(api::kUnstageableAnnotation);
    if (!why.empty()) {
      return fmt::format("node {} cannot stage {}: {}", nodes_[i].name(), target_text_,
                         FirstCharacters(Printable(why), kLongestReason));
    }
    if (metadata.Annotation(api::kStagedAnnotation) != target_text_) waiting.push_back(nodes_[i].name());
  }
  if (waiting.empty()) return "";
  return fmt::format("{} not staged {} yet: {}",
                     CountedNodes(waiting.size()) + (waiting.size() == 1 ? " has" : " have"), target_text_,
                     Listed(waiting));
}

std::vector<bool> Follower::WithinWindowAndWave() {
  std::vector<bool> nodes(nodes_.size(), false);
  if (!memory_.has_begun) return nodes;
  const bool is_any_left = CountWhere([&](std::size_t i) { return IsNextInWave(i); }) > 0;
  if (!is_any_left) return nodes;
  if (const std::string why = WhyNotStaged(); !why.empty()) {
    SetPhase(RolloutPhase::kStaging, why);
    return nodes;
  }
  for (std::size_t i = 0; i < nodes_.size(); ++i) nodes[i] = IsNextInWave(i) && IsInWindow(i);
  if (std::find(nodes.begin(), nodes.end(), true) == nodes.end()) SetPhaseOfWindow();
  return nodes;
}

void Follower::SetPhaseOfWindow() {
  const auto& opening = decided_.opening;
  const std::string hint = why_not_overridden_.empty() ? "" : "; " + why_not_overridden_;
  if (policy_.windows.IsFrozenAt(now_)) {
    const std::string reason =
        policy_.freeze_reason.empty() ? "" : fmt::format(" ({})", Printable(policy_.freeze_reason));
    return SetPhase(RolloutPhase::kFrozen,
                    fmt::format("the policy's freeze{} forbids updates now; they can begin at {}{}", reason,
                                ToRfc3339(opening.begin), hint));
  }
  SetPhase(RolloutPhase::kAwaitingWindow,
           fmt::format("no maintenance window is open; the next one begins at {}{}", ToRfc3339(opening.begin), hint));
}

bool Follower::IsAny(const std::vector<bool>& nodes) {
  return std::find(nodes.begin(), nodes.end(), true) != nodes.end();
}

std::vector<bool> Follower::UpdatableNow(std::vector<bool> nodes) const {
  if (!IsAny(nodes)) return nodes;
  const Headroom headroom = HeadroomOf(situation_);
  if (!headroom.hold_reason.empty()) return std::vector<bool>(nodes.size(), false);
  const bool has_capacity = headroom.capacity > 0 && WaveCapacity().value_or(1) > 0;
  std::vector<bool> is_lost(nodes.size(), false);
  for (const std::size_t i : FindUnavailableToUpdate(target_, nodes_)) is_lost[i] = true;
  const auto busy = BusyDomains();
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    const bool has_room = is_lost[i] || (has_capacity && nodes_[i].is_ready());
    nodes[i] = nodes[i] && has_room && (busy.empty() || busy.contains(DomainOf(i)));
  }
  return nodes;
}

void Follower::ApplyGatesBefore(bool has_too_many_failures) {
  admitted_ = WithinWindowAndWave();
  std::vector<const Gate*> gates;
  for (const Gate& gate : policy_.gates) {
    if (gate.when == GateTime::kBefore) gates.push_back(&gate);
  }
  const bool is_any_next = memory_.has_begun && CountWhere([&](std::size_t i) { return IsNextInWave(i); }) > 0;
  if (gates.empty() || !is_any_next) return;
  const bool was_any_admitted = IsAny(admitted_);
  std::vector<bool> running(nodes_.size(), false);
  if (!has_too_many_failures) running = UpdatableNow(admitted_);
  std::string why;
  for (const Gate* const gate : gates) {
    if (!gate->is_about_nodes()) {
      std::string why_blocked = WhyBlocked(*gate, nullptr, IsAny(running));
      if (why_blocked.empty()) continue;
      running.assign(nodes_.size(), false);
      admitted_.assign(nodes_.size(), false);
      KeepFirst(why, std::move(why_blocked));
      continue;
    }
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      if (!IsNextInWave(i)) continue;
      std::string why_blocked = WhyBlocked(*gate, &nodes_[i], running[i]);
      if (why_blocked.empty()) continue;
      if (admitted_[i]) KeepFirst(why, std::move(why_blocked));
      running[i] = false;
      admitted_[i] = false;
    }
  }
  if (was_any_admitted && !why.empty() && !IsAny(admitted_)) SetPhase(RolloutPhase::kAwaitingGate, why);
}

std::optional<int> Follower::WaveCapacity() const {
  const auto& most = CurrentWave().max_unavailable;
  if (!most || !memory_.has_begun) return std::nullopt;
  const auto in_use = CountWhere([&](std::size_t i) {
    const bool is_failing = nodes_[i].is_failing() && standings_[i].is_assigned;
    return IsInWave(i) && (nodes_[i].is_unavailable() || is_failing);
  });
  const auto limit = std::max<std::size_t>(most->RoundedDown(CountWaveNodes()), 1);
  return static_cast<int>(limit) - static_cast<int>(in_use);
}

void Follower::Admit() {
  admission_.nodes.assign(nodes_.size(), false);
  if (memory_.halt) return;
  if (!admitted_.empty()) admission_.nodes = admitted_;
  KeepOneDomain();
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    if (CanOnlyGain(i)) admission_.nodes[i] = true;
  }
  admission_.capacity = WaveCapacity();
}

std::set<std::string_view> Follower::BusyDomains() const {
  std::set<std::string_view> domains;
  for (std::size_t i = 0; !policy_.order_label.empty() && i < nodes_.size(); ++i) {
    const Standing& standing = standings_[i];
    const bool is_busy = standing.is_assigned && !standing.is_well && !standing.is_faulty;
    if (is_busy) domains.insert(DomainOf(i));
  }
  return domains;
}

void Follower::KeepOneDomain() {
  if (policy_.order_label.empty()) return;
  std::set<std::string_view> domains = BusyDomains();
  if (domains.empty()) {
    // A node of another domain may have taken all room for ready nodes.
    const std::vector<bool> updatable = UpdatableNow(admission_.nodes);
    std::vector<bool> ready = updatable;
    for (std::size_t i = 0; i < nodes_.size(); ++i) ready[i] = ready[i] && nodes_[i].is_ready();
    const std::array preferences = {ready, updatable, admission_.nodes};
    for (const std::vector<bool>& preferred : preferences) {
      for (std::size_t i = 0; i < nodes_.size(); ++i) {
        if (!preferred[i]) continue;
        if (domains.empty() || DomainOf(i) < *domains.begin()) domains = {DomainOf(i)};
      }
      if (!domains.empty()) break;
    }
  }
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    if (!domains.contains(DomainOf(i))) admission_.nodes[i] = false;
  }
}

}  // namespace pintle::pool
