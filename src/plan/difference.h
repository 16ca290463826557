// SPDX-License-Identifier: Apache-2.0
#pragma once

// Compares two configs as the Machine Config Operator does: sections are compared as they are written, so the same
// contents in another encoding, or the same files in another order, count as a difference.

#include <string>
#include <vector>

#include "ignition/config.h"
#include "machineconfig/reconcilable.h"

namespace pintle::plan {

using machineconfig::ParsedConfig;

// `from` is null if the old config does not have the file, and `to` is null if the new one does not.
struct FileChange {
  std::string path;
  const ignition::File* from = nullptr;
  const ignition::File* to = nullptr;
};

// `from` is null if the old config does not have the unit, and `to` is null if the new one does not.
struct UnitChange {
  std::string name;
  const ignition::Unit* from = nullptr;
  const ignition::Unit* to = nullptr;
};

// "OCL" is on-cluster layering: an image is built in the cluster for a config.
struct Difference {
  bool os_image = false;
  bool kernel_arguments = false;
  bool fips = false;
  bool passwd = false;
  bool files = false;
  bool units = false;
  bool kernel_type = false;
  bool extensions = false;
  bool ocl_enabled = false;      // At least one of the configs has an image of its own that was built in the cluster.
  bool revert_from_ocl = false;  // Only the old config has such an image.

  std::vector<FileChange> changed_files;  // Sorted by path.
  std::vector<UnitChange> changed_units;  // Sorted by name.

  bool IsEmpty() const;
  // Names the changes of the image, extensions and kernel: "Upgrading OS; Changing kernel type", or "" if there are
  // none.
  std::string OsChanges() const;
};

// The difference has pointers into the configs, so they must outlive it.
Difference Compare(const ParsedConfig& from, const ParsedConfig& to);

// Returns whether an image that was built for the old config must be built anew.
bool NeedsRebuild(const api::MachineConfigSpec& from, const api::MachineConfigSpec& to);

}  // namespace pintle::plan
