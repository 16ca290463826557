// SPDX-License-Identifier: Apache-2.0
#pragma once

// `pintle status`: prints what the agent of this machine is doing, and what comes next.

#include <array>
#include <string>

#include "ctl/answer.h"
#include "ctl/command_line.h"
#include "ctl/machine.h"
#include "host/agent_dbus.h"

namespace pintle::ctl {

inline constexpr std::array kStatusOptions = {
    Option{"--watch", "", "print the status again whenever it changes"},
    kOutputOption,
};

// Returns the status as a text for people.
std::string StatusText(const host::AgentStatus& status);

}  // namespace pintle::ctl
