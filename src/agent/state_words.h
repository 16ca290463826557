// SPDX-License-Identifier: Apache-2.0
#pragma once

// What people are told of a state, by `pintle status` and on the bus.

#include <string_view>

#include "agent/state.h"
#include "host/agent_dbus.h"

namespace pintle::agent {

// `is_going_back`: to the config before; `is_held`: what is wanted waits until a pause ends.
host::AgentPhase ShownAs(const State& state, bool is_going_back, bool is_held);

// What it does; empty: nothing.
std::string_view DoingIn(const Phase& phase);

// What follows that; empty: it depends.
std::string_view NextAfter(const Phase& phase);

}  // namespace pintle::agent
