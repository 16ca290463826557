// SPDX-License-Identifier: Apache-2.0
#pragma once

// Compares two configs as the Machine Config Operator does: sections are compared as they are written, so the same
// contents in another encoding, or the same files in another order, are a difference too.

#include <string>
#include <vector>

#include "ignition/config.h"
#include "machineconfig/reconcilable.h"

namespace pintle::plan {

using machineconfig::ParsedConfig;

// Either of the two is null if that config does not have the thing.
struct FileChange {
  std::string path;
  const ignition::File* from = nullptr;
  const ignition::File* to = nullptr;
};

struct UnitChange {
  std::string name;
  const ignition::Unit* from = nullptr;
  const ignition::Unit* to = nullptr;
};

struct Difference {
  bool os_image = false;
  bool kernel_arguments = false;
  bool fips = false;
  bool passwd = false;
  bool files = false;
  bool units = false;
  bool kernel_type = false;
  bool extensions = false;
  bool ocl_enabled = false;      // An image was built in the cluster for one of the configs.
  bool revert_from_ocl = false;  // An image was built for the old config, and none for the new one.

  std::vector<FileChange> changed_files;  // Sorted by path.
  std::vector<UnitChange> changed_units;  // Sorted by name.

  bool IsEmpty() const;
  // Returns a text such as "Upgrading OS; Changing kernel type", or "".
  std::string OsChanges() const;
};

// The configs must outlive the difference.
Difference Compare(const ParsedConfig& from, const ParsedConfig& to);

// Returns whether an image that was built for the old config must be built anew.
bool NeedsRebuild(const api::MachineConfigSpec& from, const api::MachineConfigSpec& to);

}  // namespace pintle::plan
