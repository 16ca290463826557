// SPDX-License-Identifier: Apache-2.0
#pragma once

// The words after a verb of `pintle`.

#include "base/command_line.h"

namespace pintle::ctl {

using pintle::CommandLine;
using pintle::Describe;
using pintle::Option;
using pintle::SplitAtCommas;

}  // namespace pintle::ctl
