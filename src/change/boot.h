// SPDX-License-Identifier: Apache-2.0
#pragma once

// Distinguishes the boots of the machine.

#include <string>

#include "base/result.h"
#include "base/root.h"
#include "change/change.h"

namespace pintle::change {

// Returns an id that changes with each boot; "" if `root` is the tree of a system that is not running.
Result<std::string> BootId(const Root& root);

// Returns whether the machine has booted since the change began.  If recovery had to put the files of the change after
// a boot, returns whether the machine has booted again since then.
Result<bool> HasRebooted(const Root& root, const Change& change);

}  // namespace pintle::change
