// SPDX-License-Identifier: Apache-2.0
#pragma once

// The links below /etc/systemd/system by which units are enabled and have other names.
//
// They are what enabling and disabling change: entries of *.wants, *.requires and *.upholds folders, and links in the
// folder itself that are named like a unit.  A link that masks a unit, and a unit's file, are entries of the file tree
// and not looked at here.

#include <string_view>

#include "base/result.h"
#include "base/root.h"
#include "host/unit_name.h"
#include "resource/unit_state.h"

namespace pintle::host {

Result<resource::UnitLinks::State> ObserveUnitLinks(const Root& root);

// Makes the links exactly these.  A folder without any goes away, unless it is to be there.
Result<> PutUnitLinks(const Root& root, const resource::UnitLinks::State& links);

// Removes the links that start a unit, and its other names; not the link that says where its file is, nor those of
// other instances.
Result<> RemoveUnitLinks(const Root& root, const UnitName& unit);

// Makes durable what systemd itself has changed: it does not care about power cuts.
Result<> SyncUnitLinks(const Root& root);

}  // namespace pintle::host
