// SPDX-License-Identifier: Apache-2.0
#pragma once

// Who has a lock on a file, for telling people whom they wait for.

#include <optional>
#include <string>

namespace pintle::host {

// "rpm-ostreed (process 812)", or nothing when nobody has one, or it cannot be seen who.
std::optional<std::string> LockHolder(const std::string& path);

}  // namespace pintle::host
