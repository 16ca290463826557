// SPDX-License-Identifier: Apache-2.0
#pragma once

// The packages of the running tree: those of its image, and those that are layered on it.

#include <string>
#include <vector>

#include "base/result.h"

namespace pintle::host {

// Returns the names of the packages, or none if the machine has no rpm.
Result<std::vector<std::string>> InstalledPackages();

}  // namespace pintle::host
