// SPDX-License-Identifier: Apache-2.0
#pragma once

// Distinguishes the links of units that a change made from those that others make.
//
// Which links a change makes is known only after units were enabled and disabled.  Until then its undo has just the
// links from before.  Afterwards the steps list the links that came, went or lead elsewhere, and only these are taken
// back: a unit that someone enables while a change waits for its reboot stays enabled when the change is undone.

#include <string>
#include <vector>

#include "base/result.h"
#include "change/change.h"
#include "host/host.h"
#include "resource/unit_state.h"

namespace pintle::change {

// Adds the links that a change made to its steps.  It must be called when all of them have been put.
Result<> NoteLinks(const host::Host& host, Change& change);

// Returns the links that differ from before; one that is gone has an empty target.
resource::UnitLinks::State MadeOf(const resource::UnitLinks::State& before, const resource::UnitLinks::State& after);

struct LinksBack {
  resource::UnitLinks::State links;  // All links that the machine is to have.
  std::vector<std::string> edited;   // Links of the change that someone has changed since; they stay.
};

// Works out how to take back the links that a change made, from the links as they are now and as they were before it.
LinksBack TakeLinksBack(resource::UnitLinks::State now, const resource::UnitLinks::State& before,
                        const resource::UnitLinks::State& made);

}  // namespace pintle::change
