// SPDX-License-Identifier: Apache-2.0
#include "agent/state_words.h"

#include <variant>

namespace pintle::agent {
namespace {

struct Words {
  host::AgentPhase shown_as;
  std::string_view doing = {};
  std::string_view next = {};
};

// WordsFor has a row for each phase.  If a row is missing, the file does not compile.
struct WordsFor {
  using Shown = host::AgentPhase;

  Words operator()(const phase::Recovering& recovering) const {
    return {recovering.is_going_back ? Shown::kUndoing : Shown::kStarting,
            "ending a change that a crash or a reboot has interrupted"};
  }
  Words operator()(const phase::Waiting&) const { return {Shown::kStarting, "waiting for a config"}; }
  Words operator()(const phase::Checking&) const {
    return {Shown::kChecking, "comparing this machine with its config"};
  }
  Words operator()(const phase::Draining&) const {
    return {Shown::kDraining, "waiting for its pods to go", "the change, once the pods are gone"};
  }
  Words operator()(const phase::Changing&) const { return {Shown::kChanging, "changing this machine"}; }
  Words operator()(const phase::Rebooting&) const {
    return {Shown::kRebooting, "rebooting", "a check of the whole machine"};
  }
  Words operator()(const phase::Confirming&) const {
    return {Shown::kConfirming, "checking its health after the reboot", "the change is completed or undone"};
  }
  Words operator()(const phase::Settled&) const { return {Shown::kSettled}; }
  Words operator()(const phase::Degraded&) const { return {Shown::kDegraded}; }
};

Words WordsOfPhase(const Phase& phase) { return std::visit(WordsFor(), phase); }

}  // namespace

host::AgentPhase PublishedPhase(const State& state, bool is_held) {
  const Phase& phase = state.phase;
  const bool rests = std::holds_alternative<phase::Settled>(phase) || std::holds_alternative<phase::Waiting>(phase);
  // A look that waits for the end of a pause has not begun.
  if (is_held && (rests || std::holds_alternative<phase::Checking>(phase))) return host::AgentPhase::kPaused;
  if (rests && !state.why_unusable.empty()) return host::AgentPhase::kDegraded;
  return WordsOfPhase(phase).shown_as;
}

std::string_view DoingIn(const Phase& phase) { return WordsOfPhase(phase).doing; }

std::string_view NextAfter(const Phase& phase) { return WordsOfPhase(phase).next; }

}  // namespace pintle::agent
