// SPDX-License-Identifier: Apache-2.0
#pragma once

// Enabling and disabling units below a root, with the links that systemctl would make and remove there.
//
// What systemd does has corners: units that name others in Also=, other names, templates whose instances are enabled,
// links to files elsewhere.  tests/unit/host/systemd_offline_test.cc compares all of it with the real one.

#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/root.h"
#include "resource/resource.h"
#include "resource/unit_state.h"

namespace pintle::host {

// Units by what is to be done with them, which is done in this order: as the Machine Config Operator does it, a unit
// that a config disables stays so when another one that is enabled names it in Also=.
struct UnitsByEnablement {
  std::vector<std::string> preset;
  std::vector<std::string> enabled;
  std::vector<std::string> disabled;
};
UnitsByEnablement Sorted(std::span<const resource::Put<resource::UnitState>> units);

// As `systemctl --root=... --force enable UNITS...`.
Result<> EnableUnits(const Root& root, std::span<const std::string> units);

// As `systemctl --root=... disable UNITS...`.  Of a unit that does not exist, the links are removed.
Result<> DisableUnits(const Root& root, std::span<const std::string> units);

// As `systemctl --root=... --force preset UNITS...`.
Result<> PresetUnits(const Root& root, std::span<const std::string> units);

// Whether there is something by that name at all; a mask is something.
Result<bool> HasUnit(const Root& root, const std::string& unit);

// What `systemctl --root=... is-enabled UNIT` says, or nothing for a unit that is not there.
Result<std::string> FileStateOf(const Root& root, const std::string& unit);

}  // namespace pintle::host
