// SPDX-License-Identifier: Apache-2.0
#pragma once

// Describes a state to people, for `pintle status` and the bus.

#include <string_view>

#include "agent/state.h"
#include "host/agent_dbus.h"

namespace pintle::agent {

// Returns the phase that is published for this state.  `is_held` is true if the goal waits until a pause ends or a
// window begins.
host::AgentPhase PublishedPhase(const State& state, bool is_held);

// Returns the activity of the agent in this phase, or "" if it has none.
std::string_view DoingIn(const Phase& phase);

// Returns what follows this phase, or "" if that depends on the outcome.
std::string_view NextAfter(const Phase& phase);

}  // namespace pintle::agent
