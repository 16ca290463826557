// SPDX-License-Identifier: Apache-2.0
#pragma once

// Pauses the agent of a machine without a cluster: during a pause, the agent changes nothing.  A person ends the pause.
//
// A pause is a file, so that it survives a reboot and can begin while no agent runs.  The agent watches the file.

#include "base/result.h"
#include "base/root.h"

namespace pintle::host {

inline constexpr const char* kPauseDirectory = "/etc/pintle";
inline constexpr const char* kPauseFile = "/etc/pintle/paused";

// Return whether there is a pause, begin one, and end it.  Resuming without a pause is no error.
Result<bool> IsPaused(const Root& root);
Result<> Pause(const Root& root);
Result<> Resume(const Root& root);

}  // namespace pintle::host
