// SPDX-License-Identifier: Apache-2.0
#pragma once

// `pintle explain`: prints what the config wants of a thing, what is there, who wrote it, and what changing it would
// entail.

#include <array>

#include "ctl/answer.h"
#include "ctl/command_line.h"
#include "ctl/machine.h"
#include "ctl/private_option.h"

namespace pintle::ctl {

inline constexpr std::array kExplainOptions = {kPolicyOption, kRootOption, kShowPrivateOption, kDataOption};

}  // namespace pintle::ctl
