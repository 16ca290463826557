// SPDX-License-Identifier: Apache-2.0
#pragma once

// Finds the process that holds a lock on a file, so that messages can name it.

#include <optional>
#include <string>

namespace pintle::host {

// Returns a text such as "rpm-ostreed (process 812)", or nullopt if nobody holds a lock or the holder cannot be seen.
std::optional<std::string> LockHolder(const std::string& path);

}  // namespace pintle::host
