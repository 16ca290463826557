// SPDX-License-Identifier: Apache-2.0
#pragma once

// Whether a terminal is to show what not everyone may read.

#include "change/private_lines.h"
#include "ctl/command_line.h"

namespace pintle::ctl {

inline constexpr Option kShowPrivateOption = {"--show-private", "",
                                              "show the lines of files that not everyone may read, too"};

inline change::PrivateLines PrivateLinesFor(const CommandLine& line) {
  return line.Has(kShowPrivateOption.name) ? change::PrivateLines::kShown : change::PrivateLines::kLeftOut;
}

}  // namespace pintle::ctl
