// SPDX-License-Identifier: Apache-2.0
#pragma once

// The verbs of `pintle`, one file each.

#include "ctl/command_line.h"

namespace pintle::ctl {

// What scripts may rely on.
enum class ExitStatus {
  kFine = 0,
  kWrong = 1,       // Something went wrong; standard error says what.
  kDiffers = 2,     // All went well, and the answer is that there is a difference or something to do.
  kUnchanged = 77,  // What `machine-config-daemon pivot --unchanged-exit-77` answers when nothing was to be done.
};

// A verb prints its answer on standard output, and nothing else.  Its error is printed by main().
using Verb = Result<ExitStatus>(const CommandLine& line);

Verb Adopt;
Verb Apply;
Verb Check;
Verb Convert;
Verb Diff;
Verb Explain;
Verb Finalize;
Verb Firstboot;
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
Verb Validate;
Verb Verify;
Verb Version;

}  // namespace pintle::ctl
