// SPDX-License-Identifier: Apache-2.0
#pragma once

// Which boot of the machine this is.

#include <string>

#include "base/result.h"
#include "base/root.h"
#include "change/change.h"

namespace pintle::change {

// Changes with each boot; "" on a root that is not running.
Result<std::string> BootId(const Root& root);

// Whether the machine has booted since the change began.
Result<bool> HasRebooted(const Root& root, const Change& change);

}  // namespace pintle::change
