// SPDX-License-Identifier: Apache-2.0
#pragma once

// Reads and changes the links below /etc/systemd/system that enable units and give them aliases.
//
// These are the links in *.wants, *.requires and *.upholds folders, and the links in /etc/systemd/system itself that
// have the name of a unit.  Links that mask units, and the files of units, are entries of the file tree; these
// functions ignore them.

#include "base/result.h"
#include "base/root.h"
#include "host/systemd/unit_name.h"
#include "resource/unit_state.h"

namespace pintle::host {

// Returns the links with their targets, and the folders without links.
Result<resource::UnitLinks::State> ObserveUnitLinks(const Root& root);

// Makes and removes links until exactly `links` exist.  A folder without links is removed, unless `links` lists it as
// empty.
Result<> PutUnitLinks(const Root& root, const resource::UnitLinks::State& links);

// Removes the links by which other units start a unit, and its aliases.  The link that leads to the unit's file stays,
// and so do the links of other instances.
Result<> RemoveUnitLinks(const Root& root, const UnitName& unit);

// Makes systemd's own changes of links durable, since systemd does not sync them.
Result<> SyncUnitLinks(const Root& root);

}  // namespace pintle::host
