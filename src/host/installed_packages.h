// SPDX-License-Identifier: Apache-2.0
#pragma once

// The packages of the tree that runs, those of its image and those that are layered on it.

#include <string>
#include <vector>

#include "base/result.h"

namespace pintle::host {

// Their names; none where there is no rpm to ask.
Result<std::vector<std::string>> InstalledPackages();

}  // namespace pintle::host
