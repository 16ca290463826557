// SPDX-License-Identifier: Apache-2.0
#include "host/systemd/systemd_offline.h"

#include <vector>

#include "host/systemd/enablement.h"
#include "host/systemd/unit_links.h"
#include "host/systemd/unit_name.h"

namespace pintle::host {
namespace {

// Returns the units that have a file, and removes the links of all units without a file.
Result<std::vector<std::string>> WithFiles(const Root& root, const std::vector<std::string>& units) {
  std::vector<std::string> with_files;
  for (const std::string& unit : units) {
    if (TRY(HasUnit(root, unit))) {
      with_files.push_back(unit);
    } else {
      TRY(RemoveUnitLinks(root, *UnitName::Parse(unit)));
    }
  }
  return with_files;
}

Result<bool> CanBeEnabled(const Root& root, const std::string& unit) {
  const std::string state = TRY(UnitFileStateOf(root, unit));
  return !state.starts_with("masked") && state != "generated" && state != "transient";
}

// Applies presets to the units that can be enabled, and skips all other units.
Result<> PresetUsable(const Root& root, const std::vector<std::string>& units) {
  std::vector<std::string> usable;
  for (const std::string& unit : units) {
    if (TRY(CanBeEnabled(root, unit))) usable.push_back(unit);
  }
  return PresetUnits(root, usable);
}

// Calls RemoveUnitLinks() first, since an earlier [Install] section may have asked for links that the present
// section does not ask for.
Result<> Enable(const Root& root, const std::vector<std::string>& units) {
  for (const std::string& unit : units) TRY(RemoveUnitLinks(root, *UnitName::Parse(unit)));
  return EnableUnits(root, units);
}

}  // namespace

Result<> SystemdOffline::PutEnablement(std::span<const resource::Put<resource::UnitState>> units) {
  const UnitsByEnablement sorted = SortByEnablement(units);
  TRY(PresetUsable(root_, TRY(WithFiles(root_, sorted.preset))));
  TRY(Enable(root_, TRY(WithFiles(root_, sorted.enabled))));
  return DisableUnits(root_, TRY(WithFiles(root_, sorted.disabled)));
}

Result<resource::UnitLinks::State> SystemdOffline::ObserveLinks() { return ObserveUnitLinks(root_); }
Result<> SystemdOffline::PutLinks(const resource::UnitLinks::State& links) { return PutUnitLinks(root_, links); }

Result<> SystemdOffline::Reload() { return {}; }
Result<> SystemdOffline::Run(JobKind, const std::string&, std::chrono::milliseconds) { return {}; }

Result<UnitStatus> SystemdOffline::Observe(const std::string& unit) {
  const std::string state = TRY(UnitFileStateOf(root_, unit));
  const bool is_masked = state.starts_with("masked");
  return UnitStatus{state.empty() ? "not-found" : is_masked ? "masked" : "loaded", "inactive", state};
}

}  // namespace pintle::host
