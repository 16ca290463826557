// SPDX-License-Identifier: Apache-2.0
#pragma once

// Enables and disables units below a root: makes and removes the same links as systemctl.
//
// systemd's rules are intricate: units that name others in Also=, aliases, templates with instances, links to files
// elsewhere.  tests/unit/host/systemd/systemd_offline_test.cc compares the result with systemctl's.

#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/root.h"
#include "resource/resource.h"
#include "resource/unit_state.h"

namespace pintle::host {

// Units sorted by their wanted enablement.  Presets are applied first, then units are enabled, and then disabled, as
// the Machine Config Operator does.  So a unit that a config disables stays disabled even if an enabled unit names it
// in Also=.
struct UnitsByEnablement {
  std::vector<std::string> preset;
  std::vector<std::string> enabled;
  std::vector<std::string> disabled;
};
UnitsByEnablement SortByEnablement(std::span<const resource::Put<resource::UnitState>> units);

// Does the same as `systemctl --root=... --force enable UNITS...`.
Result<> EnableUnits(const Root& root, std::span<const std::string> units);

// Does the same as `systemctl --root=... disable UNITS...`.  The links of a unit that does not exist are also removed.
Result<> DisableUnits(const Root& root, std::span<const std::string> units);

// Does the same as `systemctl --root=... --force preset UNITS...`.
Result<> PresetUnits(const Root& root, std::span<const std::string> units);

// Returns whether a unit of that name exists.  A masked unit exists.
Result<bool> HasUnit(const Root& root, const std::string& unit);

// Returns what `systemctl --root=... is-enabled UNIT` prints, or "" for a unit that does not exist.
Result<std::string> UnitFileStateOf(const Root& root, const std::string& unit);

}  // namespace pintle::host
