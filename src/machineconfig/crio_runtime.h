// SPDX-License-Identifier: Apache-2.0
#pragma once

// Which container runtime a config makes CRI-O use, and where it is not to be had.

#include <string>
#include <string_view>

#include "ignition/config.h"

namespace pintle::machineconfig {

// What the last of CRI-O's drop-ins that says so wants; empty: nobody says.  What cannot be read says nothing.
std::string DefaultRuntimeOf(const ignition::Config& config);

// Whether a stream of OS images is made of RHEL 10 or CentOS Stream 10.
bool IsRhel10Stream(std::string_view stream);

}  // namespace pintle::machineconfig
