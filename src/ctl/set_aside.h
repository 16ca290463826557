// SPDX-License-Identifier: Apache-2.0
#pragma once

// `pintle recover --set-aside`: the way out where what Pintle keeps cannot be read any more.

#include "base/result.h"
#include "ctl/command_line.h"
#include "ctl/verbs.h"

namespace pintle::ctl {

Result<ExitStatus> SetAside(const CommandLine& line);

}  // namespace pintle::ctl
