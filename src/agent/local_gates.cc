// SPDX-License-Identifier: Apache-2.0
#include "agent/local_gates.h"

#include <fmt/core.h>

#include <chrono>
#include <utility>

#include "base/printable.h"
#include "base/time_span.h"
#include "pool/gate_timeouts.h"
#include "pool/rollout_policy.h"

namespace pintle::agent {
namespace {

using pool::GateTimeouts;

// GateChecks has results by the names of policies.  A machine has only one policy, under this name.
constexpr const char* kOnlyPolicy = "";

// New results are judged this much later at most.
constexpr event::Slack kNewsSlack = std::chrono::milliseconds(20);

WallTime::duration LeadOfWallClock(const Clock& clock) {
  return clock.Wall().time_since_epoch() - clock.Monotonic().time_since_epoch();
}

}  // namespace

GateVerdict JudgeGates(std::span<const pool::Gate> gates, const gates::GateChecks::Results& results,
                       std::map<std::string, api::Time> blocked, WallTime now) {
  GateVerdict verdict;
  GateTimeouts timeouts(blocked, now);
  for (const pool::Gate& gate : gates) {
    const auto found = results.find(gate.name);
    const pool::GateResult result = found == results.end() ? pool::NoResultYet() : found->second;
    if (result.is_met) continue;
    const std::string since = ToRfc3339(timeouts.RecordAsBlocking(gate.name));
    std::string why = Printable(fmt::format("{}; it has not been met since {}", pool::WhyNotMet(gate, result), since));
    const GateTimeouts::Outcome outcome = timeouts.Judge(gate, gate.name);
    if (outcome != GateTimeouts::Outcome::kBlocks) {
      why += fmt::format(", and its timeout of {} has passed", InWords(*gate.timeout));
    }
    if (outcome == GateTimeouts::Outcome::kContinues) {
      verdict.unmet += (verdict.unmet.empty() ? "" : "; ") + why;
      continue;
    }
    // A gate that halts the change needs a person, so it is reported before gates that only block.
    const bool halts_first = outcome == GateTimeouts::Outcome::kHalts && !verdict.is_halted;
    if (halts_first || verdict.why.empty()) verdict.why = std::move(why);
    verdict.is_halted = verdict.is_halted || halts_first;
  }
  timeouts.ForgetUnblocked();
  verdict.again = timeouts.next();
  verdict.blocked = std::move(blocked);
  return verdict;
}

// The administrator of the machine has written the gates, so they may ask servers on the machine itself.
LocalGates::LocalGates(event::Loop& loop, const Clock& clock, std::function<void()> changed)
    : clock_(clock),
      checks_(loop, clock, net::Peers::kAll, [this] { news_.After(std::chrono::milliseconds(0)); }),
      news_(loop, std::move(changed), kNewsSlack),
      ahead_(LeadOfWallClock(clock)) {}

GateVerdict LocalGates::Judge(const Goal& goal, const std::vector<pool::Gate>& gates) {
  FollowClock();
  if (goal_ != goal) blocked_.clear();
  goal_ = goal;
  ForgetOtherQuestions(gates);
  pool::Policy policy;
  policy.gates = gates;
  checks_.Want({{kOnlyPolicy, {.policy = &policy}}});
  GateVerdict verdict = JudgeGates(gates, checks_.ResultsOf(kOnlyPolicy), blocked_, clock_.Wall());
  blocked_ = verdict.blocked;
  return verdict;
}

// Drops the times of gates that now ask another question: nobody knows since when such a gate has not been met.
void LocalGates::ForgetOtherQuestions(const std::vector<pool::Gate>& gates) {
  std::map<std::string, pool::GateTest> questions;
  for (const pool::Gate& gate : gates) questions.emplace(gate.name, gate.test);
  std::erase_if(blocked_, [&](const auto& blocked) {
    const auto before = questions_.find(blocked.first);
    const auto now = questions.find(blocked.first);
    return before == questions_.end() || now == questions.end() || before->second != now->second;
  });
  questions_ = std::move(questions);
}

void LocalGates::StopAsking() { checks_.Want({}); }

// If there is no `goal_`, the next call of Judge() drops all times, as it does for a different goal.
void LocalGates::Forget() {
  StopAsking();
  goal_.reset();
}

// Shifts the times in `blocked_` by the step with which the wall clock was set, if it was set.  A machine without a
// battery for its clock boots in the past, and its clock is set later.  That must not let timeouts pass: with
// `onTimeout: Continue`, a change would begin although its gate is not met.
void LocalGates::FollowClock() {
  const WallTime::duration ahead = LeadOfWallClock(clock_);
  const auto step = std::chrono::round<std::chrono::seconds>(ahead - ahead_);
  // A small difference stays, so that the times in messages do not change with each correction of the clock.
  if (step == std::chrono::seconds(0)) return;
  ahead_ = ahead;
  for (auto& [gate, since] : blocked_) since.at += step;
}

}  // namespace pintle::agent
