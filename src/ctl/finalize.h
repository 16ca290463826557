// SPDX-License-Identifier: Apache-2.0
#pragma once

// `pintle finalize-staged`: writes the files of a change into the next deployment.  A systemd unit runs this verb at
// shutdown.

#include <array>

#include "ctl/command_line.h"

namespace pintle::ctl {

inline constexpr std::array kFinalizeOptions = {
    Option{"--drop", "", "drop the next deployment if the files were not put into it; the unit runs this last"},
};

}  // namespace pintle::ctl
