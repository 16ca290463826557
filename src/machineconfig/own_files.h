// SPDX-License-Identifier: Apache-2.0
#pragma once

// The files that Pintle writes on a machine and reads back itself.
//
// A config with one of these files would overwrite Pintle's own records, so no machine accepts such a config.  It can
// be rendered all the same, as the Machine Config Operator does.

#include <string>
#include <string_view>

#include "base/result.h"
#include "ignition/config.h"

namespace pintle::machineconfig {

// Returns whether no config may write to this path: it is one of these files, is below one, is the path of a directory
// above one, or has a name that Pintle gives to a file while it writes the file.
bool IsOwnFile(std::string_view path);

// Returns why no machine accepts a config with a file at this path; kOwnFileAdvice is the remedy.
std::string OwnFileText(std::string_view path);
inline constexpr std::string_view kOwnFileAdvice = "leave it out of the config";

// Returns an error for the first such file of a config.
Result<> CheckOwnFiles(const ignition::Config& config);

}  // namespace pintle::machineconfig
