// SPDX-License-Identifier: Apache-2.0
#include "agent/state_words.h"

#include <iterator>
#include <variant>

namespace pintle::agent {

host::AgentPhase ShownAs(const State& state, bool is_going_back, bool is_held) {
  const Phase& phase = state.phase;
  const bool rests = std::holds_alternative<phase::Settled>(phase) || std::holds_alternative<phase::Waiting>(phase);
  // A look that waits for the end of a pause has not begun.
  if (is_held && (rests || std::holds_alternative<phase::Checking>(phase))) return host::AgentPhase::kPaused;
  if (rests && !state.unusable.empty()) return host::AgentPhase::kDegraded;
  static constexpr host::AgentPhase kShown[] = {
      host::AgentPhase::kStarting,   host::AgentPhase::kStarting, host::AgentPhase::kChecking,
      host::AgentPhase::kDraining,   host::AgentPhase::kChanging, host::AgentPhase::kRebooting,
      host::AgentPhase::kConfirming, host::AgentPhase::kSettled,  host::AgentPhase::kDegraded,
  };
  static_assert(std::size(kShown) == std::variant_size_v<Phase>);
  return is_going_back ? host::AgentPhase::kUndoing : kShown[phase.index()];
}

std::string_view DoingIn(const Phase& phase) {
  static constexpr std::string_view kDoing[] = {
      "ending what a crash or a reboot has interrupted",
      "waiting to be told what this machine is to be",
      "comparing this machine with its config",
      "waiting for its pods to go",
      "changing this machine",
      "rebooting",
      "watching whether it is well after the reboot",
      "",
      "",
  };
  static_assert(std::size(kDoing) == std::variant_size_v<Phase>);
  return kDoing[phase.index()];
}

std::string_view NextAfter(const Phase& phase) {
  static constexpr std::string_view kNext[] = {
      "", "", "", "the change, once they are gone", "", "a look at all of it", "the end of the change, or the way back",
      "", ""};
  static_assert(std::size(kNext) == std::variant_size_v<Phase>);
  return kNext[phase.index()];
}

}  // namespace pintle::agent
