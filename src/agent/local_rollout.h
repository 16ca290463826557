// SPDX-License-Identifier: Apache-2.0
#pragma once

// The rules about when a machine without a cluster may be changed: its maintenance windows, its freeze and its gates.
//
// A file of the machine holds them as a RolloutPolicy, as a cluster does for its pools.  Only `spec.windows`,
// `spec.freeze` and `spec.gates` make sense on one machine, so a file with any other field in its spec is refused.  Of
// the gates, only those make sense that ask a server and have to be met before a change: there is no Node that could
// have a condition, and no next node that a gate after a change could hold back.  A key that is misspelled, is beside
// the spec, or is written twice is refused as well: if its rule were ignored, the machine could be changed at a time at
// which nobody wants that.

#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "pool/gate.h"
#include "pool/windows.h"

namespace pintle::agent {

inline constexpr const char* kRolloutFile = "/etc/pintle/rollout.yaml";

struct LocalRollout {
  pool::Windows windows;
  std::string freeze_reason;
  std::vector<pool::Gate> gates;  // Each asks a server, and has to be met before a change.

  // Returns why the windows and the freeze do not let the machine be changed at this time, with the time at which the
  // next window begins; "" inside a window.
  std::string WhyClosed(WallTime now) const;
};

// Returns rules that always let the machine be changed if the file does not exist.  The error has all problems of the
// file, each with its field and its remedy; but if a value has the wrong type, the texts in the other values are not
// checked.  Users other than root must not be able to write the file.
Result<LocalRollout> ReadLocalRollout(const std::string& file);

}  // namespace pintle::agent
