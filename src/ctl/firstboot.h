// SPDX-License-Identifier: Apache-2.0
#pragma once

// `pintle firstboot`: gives a new machine the OS that its first config wants, before anything else runs there.

#include <array>

#include "ctl/command_line.h"
#include "ctl/machine.h"

namespace pintle::ctl {

inline constexpr std::array kFirstbootOptions = {
    Option{"--once", "", "end with an error when something fails, and do not try again"},
    Option{"--if-nothing-to-do", "",
           "complete the first boot if the OS is already as the first config wants it, and change nothing otherwise"},
    Option{"--file", "FILE", "the first config, if it is not where Ignition puts it"},
    Option{"--command-line", "FILE", "with --root: where the kernel's command line is, if not in /proc/cmdline"},
    kNoRebootOption,
    kRootOption,
};

}  // namespace pintle::ctl
