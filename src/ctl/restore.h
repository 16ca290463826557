// SPDX-License-Identifier: Apache-2.0
#pragma once

// `pintle restore`: brings things back to the state that the machine's config wants.

#include <array>

#include "ctl/answer.h"
#include "ctl/command_line.h"
#include "ctl/machine.h"
#include "ctl/private_option.h"

namespace pintle::ctl {

inline constexpr std::array kRestoreOptions = {kYesOption,  kNoRebootOption,    kPolicyOption,
                                               kRootOption, kShowPrivateOption, kOutputOption};

}  // namespace pintle::ctl
