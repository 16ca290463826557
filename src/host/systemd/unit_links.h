// SPDX-License-Identifier: Apache-2.0
#pragma once

// The links below /etc/systemd/system that enable units and give them aliases.
//
// Enabling and disabling change these links: entries of *.wants, *.requires and *.upholds folders, and links in the
// folder itself that have the name of a unit.  A link that masks a unit, and a unit's file, are entries of the file
// tree and are ignored here.

#include <string_view>

#include "base/result.h"
#include "base/root.h"
#include "host/systemd/unit_name.h"
#include "resource/unit_state.h"

namespace pintle::host {

Result<resource::UnitLinks::State> ObserveUnitLinks(const Root& root);

// Makes the links exactly these.  A folder without links is removed, unless it is listed as an empty one.
Result<> PutUnitLinks(const Root& root, const resource::UnitLinks::State& links);

// Removes the links that start a unit, and its aliases, but not the link that leads to its file, nor the links of
// other instances.
Result<> RemoveUnitLinks(const Root& root, const UnitName& unit);

// Syncs the changes that systemd itself has made, since systemd does not.
Result<> SyncUnitLinks(const Root& root);

}  // namespace pintle::host
