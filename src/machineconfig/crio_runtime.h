// SPDX-License-Identifier: Apache-2.0
#pragma once

// Finds out which container runtime a config selects for CRI-O, and which OS images have no runc.

#include <string>
#include <string_view>

#include "ignition/config.h"

namespace pintle::machineconfig {

// Returns the runtime in the last of CRI-O's drop-ins that sets one, or "" if there is none.  Drop-ins that cannot be
// read are ignored.
std::string DefaultRuntimeOf(const ignition::Config& config);

// Returns whether a stream of OS images is based on RHEL 10 or CentOS Stream 10, which have no runc.
bool IsRhel10Stream(std::string_view stream);

}  // namespace pintle::machineconfig
