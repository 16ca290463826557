// SPDX-License-Identifier: Apache-2.0
#pragma once

// The verbs of `pintle`.  Each verb has a file of its own, except for the orders to the agent, which share orders.cc.

#include "base/exit_status.h"
#include "ctl/command_line.h"

namespace pintle::ctl {

using pintle::ExitStatus;

// A verb prints its answer, and nothing else, to standard output.  Its caller prints its error.
using Verb = Result<ExitStatus>(const CommandLine& line);

Verb Adopt;
Verb Apply;
Verb Check;
Verb Convert;
Verb Diff;
Verb Explain;
Verb Finalize;
Verb Firstboot;
Verb Generate;
Verb History;
Verb Ignore;
Verb Pause;
Verb Pivot;
Verb Recover;
Verb Render;
Verb Restore;
Verb Resume;
Verb Retry;
Verb Rollout;
Verb Status;
Verb Template;
Verb Validate;
Verb Verify;
Verb Version;

}  // namespace pintle::ctl
