// SPDX-License-Identifier: Apache-2.0
#pragma once

// `pintle recover --set-aside`: moves away Pintle's own files if they cannot be used any more.

#include "base/result.h"
#include "ctl/command_line.h"
#include "ctl/verbs.h"

namespace pintle::ctl {

Result<ExitStatus> SetAside(const CommandLine& line);

}  // namespace pintle::ctl
