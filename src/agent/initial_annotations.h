// SPDX-License-Identifier: Apache-2.0
#pragma once

// The first annotations of a new machine's Node, which its first config brings in a file.

#include <map>
#include <string>

#include "base/result.h"
#include "base/root.h"

namespace pintle::agent {

inline constexpr const char* kInitialAnnotations = "/etc/machine-config-daemon/node-annotations.json";

// As long as the file is there, the machine is new to its cluster.
Result<bool> IsNewToCluster(const Root& root);

// Empty if there is no such file.
Result<std::map<std::string, std::string>> ReadInitialAnnotations(const Root& root);

// From now on the machine is not new.  The file is kept under another name, for people to look at.
Result<> KeepInitialAnnotationsAside(const Root& root);

}  // namespace pintle::agent
