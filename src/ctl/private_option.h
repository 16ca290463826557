// SPDX-License-Identifier: Apache-2.0
#pragma once

// The option to print files that not everyone may read.

#include "change/private_lines.h"
#include "ctl/command_line.h"

namespace pintle::ctl {

inline constexpr Option kShowPrivateOption = {"--show-private", "",
                                              "also print the lines of files that not everyone may read"};

// Returns whether the command line has the option.
inline change::PrivateLines PrivateLinesFor(const CommandLine& line) {
  return line.Has(kShowPrivateOption.name) ? change::PrivateLines::kShown : change::PrivateLines::kLeftOut;
}

}  // namespace pintle::ctl
