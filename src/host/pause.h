// SPDX-License-Identifier: Apache-2.0
#pragma once

// A person's word to the agent of a machine without a cluster: change nothing for now.
//
// It is a file, so that it outlives a reboot and needs no agent that runs.  The agent watches for it; whoever makes or
// removes it is heard.

#include "base/result.h"
#include "base/root.h"

namespace pintle::host {

inline constexpr const char* kPauseDirectory = "/etc/pintle";
inline constexpr const char* kPauseFile = "/etc/pintle/paused";

Result<bool> IsPaused(const Root& root);

Result<> Pause(const Root& root);
Result<> Resume(const Root& root);

}  // namespace pintle::host
