// SPDX-License-Identifier: Apache-2.0
#pragma once

// Limits of size.  Anything larger is refused before a change begins: at validation if the size is known by then, and
// otherwise while the change is staged.

#include <cstddef>

#include "base/root.h"

namespace pintle::limits {

// Limits the contents of one file of a config, after they are unpacked.  This protects the disk, which a few kilobytes
// of gzip could fill.  Memory needs no such limit, because contents are processed in pieces.
inline constexpr std::size_t kFileContents = 256 << 20;

// Limits each file that is read as a whole: the records that we write and read back, such as the machine's current
// config and the journal of a change, and the files of units and users.
inline constexpr std::size_t kRecord = Root::kReadLimit;

// Limits the config files of a machine without a cluster, all together, and each config after it is unpacked.
// Several copies of the configs are in memory at the same time.
inline constexpr std::size_t kLocalConfigs = kRecord;

// Limits the SSH keys of one user, all together.
inline constexpr std::size_t kKeys = 16 << 20;

}  // namespace pintle::limits
