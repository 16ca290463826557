// SPDX-License-Identifier: Apache-2.0
#pragma once

// `pintle apply`: changes a machine to the config in some files.

#include <array>

#include "ctl/answer.h"
#include "ctl/command_line.h"
#include "ctl/machine.h"
#include "ctl/private_option.h"

namespace pintle::ctl {

inline constexpr std::array kApplyOptions = {
    Option{"--dry-run", "", "only list what would happen"},
    Option{"--none", "", "remove the config: the machine becomes what it was without one"},
    kYesOption,
    kNoRebootOption,
    kPolicyOption,
    kRootOption,
    kShowPrivateOption,
    kOutputOption,
};

}  // namespace pintle::ctl
