// SPDX-License-Identifier: Apache-2.0
#pragma once

// Distinguishes the links of units that a change made from those that others make.
//
// Only systemd knows which links enabling a unit makes, so a change knows its links only after the units were enabled
// and disabled.  Until then, its undo has all links from before the change.  Afterwards, its steps list the links that
// were added, removed or changed, and an undo restores only these.  So a unit that someone enables while a change waits
// for its reboot stays enabled when the change is undone.

#include <string>
#include <vector>

#include "base/result.h"
#include "change/change.h"
#include "host/host.h"
#include "resource/unit_state.h"

namespace pintle::change {

// Adds a step to the change that lists the links which the change has made.  All other steps must have been put.
Result<> NoteLinks(const host::Host& host, Change& change);

// Returns the links that differ.  A link that was removed has an empty target.
resource::UnitLinks::State ChangedLinks(const resource::UnitLinks::State& before,
                                        const resource::UnitLinks::State& after);

struct RestoredLinks {
  resource::UnitLinks::State links;  // All links that the machine is to have.
  std::vector<std::string> edited;   // Links of the change that someone has changed since; they stay.
};

// Works out how to undo a change of links.  `now` has the links as they are, `before` has them as they were before the
// change, and `made` has the links that the change made (ChangedLinks()).
RestoredLinks RestoreLinks(resource::UnitLinks::State now, const resource::UnitLinks::State& before,
                           const resource::UnitLinks::State& made);

}  // namespace pintle::change
