// SPDX-License-Identifier: Apache-2.0
#pragma once

// The rules about when a machine without a cluster may be changed: its maintenance windows, its freeze and its gates.
//
// A file of the machine holds them as a RolloutPolicy, as a cluster does for its pools.  Only `spec.windows`,
// `spec.freeze` and `spec.gates` make sense on one machine, so a file with any other field in its spec is refused.  A
// gate must ask a server, because there is no Node whose condition it could check.  It must be met before a change,
// because there is no next node that a gate after the change could hold back.  A file is also refused if a key is
// misspelled, occurs twice, or is at the top level instead of below `spec`: if such a key were ignored, the machine
// could be changed at a time that the key was meant to exclude.

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

  // Returns "" if the windows and the freeze let the machine be changed at this time.  Otherwise returns the reason why
  // they do not, with the time at which the next window begins.
  std::string WhyClosed(WallTime now) const;
};

// If the file does not exist, returns rules that always let the machine be changed.  Returns an error if users other
// than root may write the file.  If the contents are wrong, the error lists all problems, each with its field and its
// remedy.  There are two exceptions: if a value has the wrong type, times and time zones are not checked; and URLs are
// checked only if nothing else is wrong.
Result<LocalRollout> ReadLocalRollout(const std::string& file);

}  // namespace pintle::agent
