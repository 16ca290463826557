// SPDX-License-Identifier: Apache-2.0
#pragma once

// A gate of a RolloutPolicy in its checked form: a test that has to be met before changes begin, or after them.
//
// A gate about nodes tests a condition or an annotation of each Node.  Every other gate is a question to a server.

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "api/rollout_policy.h"
#include "base/clock.h"

namespace pintle::pool {

// A policy may have at most this many gates.  Each gate that is a question is asked every 30 seconds.  The kind's
// schema in deploy/crds has the same limit.
inline constexpr std::size_t kMostGates = 32;

enum class GateTime { kBefore, kAfter };
// Selects what the rollout does when a gate is not met within its timeout.
enum class GateTimeout { kWait, kHalt, kContinue };

// The first two are about nodes, and the other two are questions.
using GateTest = std::variant<api::GateCondition, api::GateAnnotation, api::GateQuery, api::GateHttp>;

struct Gate {
  std::string name;
  GateTime when = GateTime::kBefore;
  GateTest test;
  std::optional<std::chrono::seconds> timeout;  // Unset if the gate may block for any time.
  GateTimeout on_timeout = GateTimeout::kWait;

  // The gate is tested for each node, and not once for the rollout.
  bool is_about_nodes() const { return test.index() < 2; }
};

// The latest answer to a gate that is a question.
struct GateResult {
  bool is_met = false;
  std::string message;               // Why it is not met.
  WallTime asked = WallTime::max();  // When the request was sent.  The default counts as later than every update.
};

// The result of a gate that has not been answered yet.
inline GateResult NoResultYet() { return {.is_met = false, .message = "there is no result yet"}; }

// Returns the gates in their checked form.  Appends each problem to `problems`, with its field and its remedy.  If
// there are any problems, the returned gates must not be used.  No problem contains a URL, because a URL can have a
// password or a token in it.
std::vector<Gate> CompileGates(const std::vector<api::RolloutGate>& gates, std::vector<std::string>& problems);

// Returns a sentence with the reason why the gate is not met.  A long message is cut off.
std::string WhyNotMet(const Gate& gate, const GateResult& result);

}  // namespace pintle::pool
