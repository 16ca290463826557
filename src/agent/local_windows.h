// SPDX-License-Identifier: Apache-2.0
#pragma once

// The maintenance windows of a machine without a cluster.
//
// They are in a RolloutPolicy, as for the pools of a cluster, in a file of the machine.  The rest of a RolloutPolicy is
// about several nodes, or is checked by the controller.  So a file that has any of it is refused, and so is one with a
// misspelled key: it would let the machine be changed at a time at which nobody wants that.

#include <string>

#include "base/clock.h"
#include "base/result.h"
#include "pool/windows.h"

namespace pintle::agent {

inline constexpr const char* kRolloutFile = "/etc/pintle/rollout.yaml";

struct LocalWindows {
  pool::Windows windows;
  std::string freeze_reason;

  // Returns why the machine must not be changed at this time, with the time at which the next window begins; "" inside
  // a window.
  std::string WhyClosed(WallTime now) const;
};

// Returns windows that are always open if the file does not exist.  The error has all problems of the file, each with
// its field and its remedy.  Users other than root must not be able to write the file.
Result<LocalWindows> ReadLocalWindows(const std::string& file);

}  // namespace pintle::agent
