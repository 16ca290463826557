// SPDX-License-Identifier: Apache-2.0
#pragma once

// The links of units that a change has made, apart from those that others make.
//
// Which links there will be is known only when the units have been enabled and disabled.  Until then the way back has
// just those that there were.  From then on the steps have the links that came, went or lead elsewhere, and only these
// are taken back: a unit that someone enables while a change waits for its reboot stays enabled when it is undone.

#include <string>
#include <vector>

#include "base/result.h"
#include "change/change.h"
#include "host/host.h"
#include "resource/unit_state.h"

namespace pintle::change {

// Adds the links that a change has made to its steps.  To be called when all of them have been put.
Result<> NoteLinks(const host::Host& host, Change& change);

// What is not as it was before; one that is gone has an empty target.
resource::UnitLinks::State MadeOf(const resource::UnitLinks::State& before, const resource::UnitLinks::State& after);

struct LinksBack {
  resource::UnitLinks::State links;  // All that are to be there.
  std::vector<std::string> edited;   // Links of the change that someone has changed since, which stay.
};

// Given what there is, what was there before the change, and what the change has made.
LinksBack TakeLinksBack(resource::UnitLinks::State now, const resource::UnitLinks::State& before,
                        const resource::UnitLinks::State& made);

}  // namespace pintle::change
