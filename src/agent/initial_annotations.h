// SPDX-License-Identifier: Apache-2.0
#pragma once

// The first annotations of a new machine's Node, which a file of its first config holds.

#include <map>
#include <string>

#include "base/result.h"
#include "base/root.h"

namespace pintle::agent {

inline constexpr const char* kInitialAnnotations = "/etc/machine-config-daemon/node-annotations.json";

// Returns whether the machine is new to its cluster: it is new as long as the file exists.
Result<bool> IsNewToCluster(const Root& root);

// Returns an empty map if there is no such file.
Result<std::map<std::string, std::string>> ReadInitialAnnotations(const Root& root);

// Marks the machine as no longer new.  The file is kept under another name, for people to look at.
Result<> MoveInitialAnnotationsAside(const Root& root);

}  // namespace pintle::agent
