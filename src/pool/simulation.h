// SPDX-License-Identifier: Apache-2.0
#pragma once

// Simulates a rollout by a policy: which wave begins when, which windows are used, and when the rollout ends at the
// earliest.
//
// Each step is decided by DecideByPolicy(), so the simulation knows no rule of its own.  It only plays the part of the
// nodes, of the API server and of the clock, which jumps to the next moment at which something can change.  It assumes
// that each node takes the same time, that no node fails, that all gates are met, that every change needs a window,
// and that each approval is given at once.

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "api/rollout_policy.h"
#include "base/clock.h"
#include "pool/rollout.h"
#include "pool/rollout_policy.h"
#include "pool/waved_rollout.h"

namespace pintle::pool {

// The inputs of Simulate(); borrowed for the call.
struct SimulationInputs {
  const Situation& situation;  // The situation at `begin`.
  const Policy& policy;
  const api::RolloutMemory& memory;
  WallTime begin;
  std::chrono::seconds node_time;  // The time from giving a node the target until the node is done.
  // The simulation is cut off after this many decisions; unset for as many as the nodes can need.
  std::optional<std::size_t> most_decisions = std::nullopt;
};

struct SimulatedStep {
  enum class Kind {
    kWaveBegins,      // The first node of a wave is given the target.
    kWindowUsed,      // The first node in a window is given the target.
    kWaitsForWindow,  // The rollout waits `until` the next window begins.
    kSoaks,           // All nodes of a wave are done, and are watched `until` the end of the wave's soak time.
    kNeedsApproval,   // A wave could begin, and needs an approval, which is assumed.
    kWaveDone,
    kHalted,  // The message has the reason.
    kFinished,
  };

  WallTime at = {};
  Kind kind = Kind::kFinished;
  int wave = 0;           // From 1.
  std::size_t nodes = 0;  // The nodes of the wave that begins, or all nodes if the rollout has finished.
  std::optional<WallTime> since = std::nullopt;  // The beginning of the window that is used.
  std::optional<WallTime> until = std::nullopt;  // When the used window, the wait or the soak time ends.
  std::string message = {};

  bool operator==(const SimulatedStep&) const = default;
};
// Returns the name of a kind, such as "WaveBegins".
const char* NameOf(SimulatedStep::Kind kind);

struct Simulation {
  std::vector<SimulatedStep> steps;
  std::optional<WallTime> end;  // When all nodes have the target; unset if that does not happen within a year.
  std::string obstacle;         // What the rollout waits for if it does not end.
  bool is_cut_off = false;      // SimulationInputs::most_decisions have been made, and the end is not known.
};

// Returns the steps of the rollout, and its end or the reason why it does not end.
Simulation Simulate(const SimulationInputs& inputs);

}  // namespace pintle::pool
