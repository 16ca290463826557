// SPDX-License-Identifier: Apache-2.0
#pragma once

// The directory for everything that Pintle must know after a restart.  All deployments of a machine share it.

#include "base/root.h"

namespace pintle::change {

inline constexpr const char* kStateDirectory = "/var/lib/pintle";

// The mode of this directory and of those below it.  Their files name the things that a config changes, and hold hashes
// of passwords.
inline constexpr FileMode kPrivateDirectory = {.permissions = 0700, .owner = {}};

}  // namespace pintle::change
