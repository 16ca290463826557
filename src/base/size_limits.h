// SPDX-License-Identifier: Apache-2.0
#pragma once

// How much of what a machine takes.  What is more is refused before anything is changed: as soon as a config is
// validated where that can tell, else when a change is staged.

#include <cstddef>

#include "base/root.h"

namespace pintle::limits {

// The contents of one file of a config, unpacked.  They go through in pieces, whatever their size; this is for the
// disk, which a few kilobytes of gzip could fill.
inline constexpr std::size_t kFileContents = 256 << 20;

// What is read as a whole: the records that we write and read back, such as the config that a machine has and the
// journal of a change; what systemd and we read of units and users.
inline constexpr std::size_t kRecord = Root::kReadLimit;

// All configs of a machine without a cluster together, as they are written, and one of them as it is unpacked.  They
// are in memory as a whole, several times over.
inline constexpr std::size_t kLocalConfigs = kRecord;

// The SSH keys of one user.
inline constexpr std::size_t kKeys = 16 << 20;

}  // namespace pintle::limits
