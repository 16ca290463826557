// SPDX-License-Identifier: Apache-2.0
#pragma once

// Owners that a config names, as the numbers that the machine has for them.

#include "base/result.h"
#include "base/root.h"
#include "host/files.h"

namespace pintle::change {

// From here on an owner is a number.  A name that the machine does not know is an error.
Result<> ResolveOwners(const Root& root, host::FilePut& file);

}  // namespace pintle::change
