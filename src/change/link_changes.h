// SPDX-License-Identifier: Apache-2.0
#pragma once

// Distinguishes the links that a change made for its units from the links that others make.
//
// Only systemd knows which links it makes for a unit.  So the links of a change are known only after the change has
// enabled and disabled its units.  Until then, an undo restores all links as they were before the change.  Afterwards,
// the steps of the change list the links that were added, removed or changed, and an undo restores only these.  So a
// unit that someone enables while a change waits for its reboot stays enabled when the change is undone.

#include <string>
#include <vector>

#include "base/result.h"
#include "change/change.h"
#include "host/host.h"
#include "resource/unit_state.h"

namespace pintle::change {

// If the undo of the change restores links, adds a step to the change that lists the links that the change has added,
// removed or changed.  Call this after all other steps have been put.
Result<> RecordLinks(const host::Host& host, Change& change);

// Returns the links that differ, with their targets in `after`.  A link that was removed has an empty target.
resource::UnitLinks::State ChangedLinks(const resource::UnitLinks::State& before,
                                        const resource::UnitLinks::State& after);

struct RestoredLinks {
  resource::UnitLinks::State links;  // All links after the undo, including those of others.
  std::vector<std::string> edited;   // The paths of links that someone else has changed after the change; they stay.
};

// Works out how to undo a change of links.  `now` has the present links, `before` has those from before the change, and
// `made` has those that the change added, removed or changed, as ChangedLinks() returns them.
RestoredLinks RestoreLinks(resource::UnitLinks::State now, const resource::UnitLinks::State& before,
                           const resource::UnitLinks::State& made);

}  // namespace pintle::change
