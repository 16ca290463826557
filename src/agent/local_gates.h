// SPDX-License-Identifier: Apache-2.0
#pragma once

// Asks the gates of a machine without a cluster, and judges whether a change may begin.
//
// The gates are asked only while a change waits for them or is about to begin.  A gate without a result, or with an
// answer that cannot be understood, is not met, so the change waits.

#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "agent/state.h"
#include "api/meta.h"
#include "base/clock.h"
#include "event/loop.h"
#include "event/watches.h"
#include "gates/gate_checks.h"
#include "pool/gate.h"

namespace pintle::agent {

struct GateVerdict {
  std::string why;                           // Why the change has to wait; empty if it may begin.
  bool is_halted = false;                    // The timeout of a gate with `onTimeout: Halt` has passed.
  std::string unmet;                         // Which gates are not met, but let the change begin after their timeouts.
  std::map<std::string, api::Time> blocked;  // The times since which gates are not met, by the gates' names.
  std::optional<WallTime> again;             // When the verdict may change even without a new result.
};

// Judges all gates by their latest results.  `blocked` is GateVerdict::blocked of the last verdict.
GateVerdict JudgeGates(std::span<const pool::Gate> gates, const gates::GateChecks::Results& results,
                       std::map<std::string, api::Time> blocked, WallTime now);

class LocalGates {
 public:
  // `changed` is called from the loop when another verdict may result.  The loop and the clock must outlive this
  // object.
  LocalGates(event::Loop& loop, const Clock& clock, std::function<void()> changed);

  // Returns the verdict about the change to a goal, by the results that have arrived until now.  Each gate is asked
  // from now on, until StopAsking() or Forget().  If the goal is another one than before, all timeouts begin again.  If
  // a gate asks another question than before, its timeout begins again.
  GateVerdict Judge(const Goal& goal, const std::vector<pool::Gate>& gates);
  // Asks no gate until the next call of Judge().
  void StopAsking();
  // Does the same, and lets all timeouts begin again.
  void Forget();

 private:
  void FollowClock();
  void ForgetOtherQuestions(const std::vector<pool::Gate>& gates);

  const Clock& clock_;
  gates::GateChecks checks_;
  event::Timer news_;                                // Calls `changed` once for several results.
  std::optional<Goal> goal_;                         // The goal of the last verdict.
  std::map<std::string, pool::GateTest> questions_;  // The questions of the last verdict, by the gates' names.
  std::map<std::string, api::Time> blocked_;
  WallTime::duration ahead_;  // The wall clock's lead over the monotonic clock at the last shift of `blocked_`.
};

}  // namespace pintle::agent
