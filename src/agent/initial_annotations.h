// SPDX-License-Identifier: Apache-2.0
#pragma once

// What a new machine's first config gives it to say of itself: the annotations of its Node, in a file.

#include <map>
#include <string>

#include "base/result.h"
#include "base/root.h"

namespace pintle::agent {

inline constexpr const char* kInitialAnnotations = "/etc/machine-config-daemon/node-annotations.json";

// As long as the file is there, the machine is new to its cluster.
Result<bool> IsNewToCluster(const Root& root);

// None if there is no such file.
Result<std::map<std::string, std::string>> ReadInitialAnnotations(const Root& root);

// The machine is not new any more.  The file is kept for whoever wonders, under another name.
Result<> KeepInitialAnnotationsAside(const Root& root);

}  // namespace pintle::agent
