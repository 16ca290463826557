// SPDX-License-Identifier: Apache-2.0
#pragma once

// Files that Pintle writes on a machine and reads back itself.
//
// A config that had one of them would leave a machine on which Pintle cannot tell any more what it has done, so that no
// machine is given such a config.  It can be rendered all the same, as the Machine Config Operator renders it.

#include <string>
#include <string_view>

#include "base/result.h"
#include "ignition/config.h"

namespace pintle::machineconfig {

// Whether nothing else may be written at this path: it is one of these files, is below one, or is a directory above one
// that would be a file then.
bool IsOwnFile(std::string_view path);

// Why no machine takes a config with a file there, and what to do about it.
std::string OwnFileText(std::string_view path);
inline constexpr std::string_view kOwnFileAdvice = "leave it out of the config";

// An error for the first such file of a config.
Result<> CheckOwnFiles(const ignition::Config& config);

}  // namespace pintle::machineconfig
