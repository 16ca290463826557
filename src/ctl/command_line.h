// SPDX-License-Identifier: Apache-2.0
#pragma once

// The words after a verb of `pintle`.

#include <string_view>

#include "base/command_line.h"

namespace pintle::ctl {

using pintle::CommandLine;
using pintle::Describe;
using pintle::Option;
using pintle::SplitAtCommas;

inline bool AsksForHelp(std::string_view word) { return word == "--help" || word == "-h"; }

}  // namespace pintle::ctl
