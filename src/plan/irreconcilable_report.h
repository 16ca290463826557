// SPDX-License-Identifier: Apache-2.0
#pragma once

// What a node cannot have of its config, because it is done only once, when a machine is installed: disks, RAIDs,
// filesystems, LUKS.

#include <string>
#include <vector>

#include "ignition/config.h"

namespace pintle::plan {

struct IrreconcilableChange {
  std::string field_path;  // "spec.config.storage.disks[0].device"
  std::string diff;        // `- "/dev/a"` and `+ "/dev/b"`, a line each
};

// From the config that a machine was installed with to the one that it has.
std::vector<IrreconcilableChange> IrreconcilableChanges(const ignition::Config& installed,
                                                        const ignition::Config& wanted);

}  // namespace pintle::plan
