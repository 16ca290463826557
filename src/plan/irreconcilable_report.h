// SPDX-License-Identifier: Apache-2.0
#pragma once

// Finds the parts of a node's config that the node cannot have, because they are set only once, when a machine is
// installed: disks, RAIDs, filesystems, LUKS.

#include <string>
#include <vector>

#include "ignition/config.h"

namespace pintle::plan {

struct IrreconcilableChange {
  std::string field_path;  // For example "spec.config.storage.disks[0].device".
  std::string diff;        // For example the lines `- "/dev/a"` and `+ "/dev/b"`.
};

// Returns the changes from the config with which a machine was installed to a later config.
std::vector<IrreconcilableChange> IrreconcilableChanges(const ignition::Config& installed,
                                                        const ignition::Config& wanted);

}  // namespace pintle::plan
