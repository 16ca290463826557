// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>

#include <algorithm>
#include <variant>

#include "base/first_characters.h"
#include "base/printable.h"
#include "base/time_span.h"
#include "pool/follower.h"

namespace pintle::pool {

bool Follower::IsMetBy(const Gate& gate, const NodeState& node) const {
  if (const auto* wanted = std::get_if<api::GateCondition>(&gate.test)) {
    const auto& conditions = node.node().status.conditions;
    return std::any_of(conditions.begin(), conditions.end(), [&](const api::NodeCondition& condition) {
      return condition.type == wanted->type && condition.status == wanted->status;
    });
  }
  const auto& wanted = std::get<api::GateAnnotation>(gate.test);
  const std::string* const value = api::Find(node.node().metadata.annotations, wanted.key);
  return value != nullptr && (!wanted.value || *wanted.value == *value);
}

std::string Follower::WantedBy(const Gate& gate) {
  if (const auto* wanted = std::get_if<api::GateCondition>(&gate.test)) {
    return fmt::format("its condition {} has to be {}", Printable(wanted->type), Printable(wanted->status));
  }
  const auto& wanted = std::get<api::GateAnnotation>(gate.test);
  if (!wanted.value) return fmt::format("it needs the annotation {}", Printable(wanted.key));
  return fmt::format("its annotation {} has to be \"{}\"", Printable(wanted.key), Printable(*wanted.value));
}

GateResult Follower::ResultOf(const Gate& gate) const {
  if (inputs_.gate_results == nullptr) return NoResultYet();
  const auto found = inputs_.gate_results->find(gate.name);
  if (found == inputs_.gate_results->end()) return NoResultYet();
  // An alert fires only some time after an update.  A request from before the nodes were well proves nothing.
  const bool is_outdated =
      IsQuestionAfterWave(gate) && memory_.well_since && found->second.asked <= memory_.well_since->at;
  if (is_outdated && found->second.is_met) {
    return {.is_met = false, .message = "there is no result yet from after the nodes of the wave were updated"};
  }
  return found->second;
}

bool Follower::IsPassedByTimeout(const Gate& gate, const std::string& key, const std::string& why, bool is_running) {
  const GateTimeouts::Outcome outcome = is_running ? timeouts_.Judge(gate, key) : timeouts_.JudgeStill(gate, key);
  if (timeouts_.next()) DecideAgainAt(*timeouts_.next());
  if (outcome == GateTimeouts::Outcome::kHalts) {
    HaltByGate(gate, fmt::format("{}; the gate's timeout of {} has passed", why, InWords(*gate.timeout)));
  }
  return outcome == GateTimeouts::Outcome::kContinues;
}

void Follower::HaltByGate(const Gate& gate, std::string why) {
  const bool is_present = memory_.halt && memory_.halt->gate == gate.name;
  if (!halting_gate_.empty() && !(is_present && halting_gate_ != gate.name)) return;
  halting_gate_ = gate.name;
  why_gate_halts_ = std::move(why);
}

std::string Follower::WhyBlocked(const Gate& gate, const NodeState* node, bool is_running) {
  if (Has(memory_.passed_gates, gate.name)) return "";
  if (gate.is_about_nodes()) {
    if (node == nullptr || IsMetBy(gate, *node)) return "";
    const std::string why = fmt::format("gate {} is not met by node {}: {}", gate.name, node->name(), WantedBy(gate));
    return IsPassedByTimeout(gate, gate.name + "/" + node->name(), why, is_running) ? "" : why;
  }
  const GateResult result = ResultOf(gate);
  if (result.is_met) return "";
  const std::string why = WhyNotMet(gate, result);
  return IsPassedByTimeout(gate, gate.name, why, is_running) ? "" : why;
}

bool Follower::AreGatesAfterMet() {
  are_gates_after_judged_ = true;
  std::string why;
  for (const Gate& gate : policy_.gates) {
    if (gate.when != GateTime::kAfter) continue;
    if (!gate.is_about_nodes()) KeepFirst(why, WhyBlocked(gate, nullptr, true));
    for (std::size_t i = 0; gate.is_about_nodes() && i < nodes_.size(); ++i) {
      const bool is_tested = IsInWave(i) && standings_[i].is_updated && !IsExcused(nodes_[i].name());
      if (is_tested) KeepFirst(why, WhyBlocked(gate, &nodes_[i], true));
    }
  }
  if (why.empty()) return true;
  SetPhase(RolloutPhase::kAwaitingGate, fmt::format("wave {} of {} ({}) is updated and waits for a gate: {}",
                                                    memory_.wave_index + 1, decided_.waves, CurrentWave().name, why));
  return false;
}

void Follower::StopGatesAfter() {
  if (are_gates_after_judged_ || !memory_.has_begun) return;
  for (const Gate& gate : policy_.gates) {
    if (gate.when != GateTime::kAfter || Has(memory_.passed_gates, gate.name)) continue;
    const bool is_timeout_over = timeouts_.StopAll(gate);
    const bool is_halted_by_gate = memory_.halt && memory_.halt->reason == kHaltedByGate &&
                                   (memory_.halt->gate == gate.name || memory_.halt->gate.empty());
    if (is_timeout_over && is_halted_by_gate) HaltByGate(gate, memory_.halt->message);
  }
}

void Follower::KeepFirst(std::string& kept, std::string text) {
  if (kept.empty()) kept = std::move(text);
}

void Follower::JudgeHalt() {
  if (IsLastWaveOver()) return EndHalt("the rollout is over");
  const std::vector<std::string> failed = FailedNodes();
  const std::size_t allowed = FailuresAllowed();
  ApplyGatesBefore(failed.size() > allowed);
  StopGatesAfter();
  timeouts_.ForgetUnblocked();
  if (failed.size() > allowed) {
    const std::string count = CountedNodes(failed.size()) + (failed.size() == 1 ? " has" : " have");
    const std::string most = allowed == 0 ? "none" : fmt::format("only {}", allowed);
    return Halt(
        kHaltedByFailures, "",
        fmt::format("{} failed with {} ({}), and the policy allows {}", count, target_text_, Listed(failed), most));
  }
  if (!halting_gate_.empty()) return Halt(kHaltedByGate, halting_gate_, why_gate_halts_);
  EndHalt("no failed node and no gate requires it any more");
}

void Follower::Halt(std::string_view reason, const std::string& gate, const std::string& message) {
  const std::string text = FirstCharacters(PrintableLines(message), kLongestMessage);
  const std::string with_remedy =
      fmt::format("{}.  Take the config back, or run `kubectl pintle resume {}` to go on in spite of this", text,
                  situation_.pool.metadata.name);
  if (!memory_.halt || memory_.halt->reason != reason) {
    memory_.halt = {.reason = std::string(reason), .gate = gate, .message = text, .since = At(now_)};
    Warn("RolloutHalted", with_remedy);
  }
  memory_.halt->gate = gate;
  memory_.halt->message = text;
  SetPhase(RolloutPhase::kHalted, with_remedy);
}

void Follower::EndHalt(std::string_view why) {
  if (!memory_.halt) return;
  memory_.halt.reset();
  Report("RolloutHaltEnded", fmt::format("the halt of the rollout of {} has ended, because {}", target_text_, why));
}

}  // namespace pintle::pool
