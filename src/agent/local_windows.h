// SPDX-License-Identifier: Apache-2.0
#pragma once

// The maintenance windows of a machine without a cluster.
//
// A file of the machine holds them as a RolloutPolicy, as a cluster does for its pools.  Only `spec.windows` and
// `spec.freeze` make sense on one machine, so a file with any other field in its spec is refused.  A misspelled key in
// the spec is refused as well: without the window or the freeze that it was meant for, the machine would be changed at
// a time at which nobody wants that.

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
// its field and its remedy; but if a value has the wrong type, the times in the other values are not checked.  Users
// other than root must not be able to write the file.
Result<LocalWindows> ReadLocalWindows(const std::string& file);

}  // namespace pintle::agent
