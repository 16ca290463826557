// SPDX-License-Identifier: Apache-2.0
#pragma once

// `pintle status`: what the agent of this machine is doing, and what is next.

#include <array>
#include <string>

#include "ctl/answer.h"
#include "ctl/command_line.h"
#include "ctl/machine.h"
#include "host/agent_dbus.h"

namespace pintle::ctl {

inline constexpr std::array kStatusOptions = {
    Option{"--watch", "", "go on, and print it again whenever something changes"},
    kDataOption,
};

// For people.
std::string StatusText(const host::AgentStatus& status);

}  // namespace pintle::ctl
