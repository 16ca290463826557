// SPDX-License-Identifier: Apache-2.0
#pragma once

// Facts about the machine that stay the same until it boots again.

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "host/this_machine.h"

namespace pintle::agent {

struct HostFacts {
  std::string os = "unsupported";  // For example "RHCOS"; it stays "unsupported" if it is not known.
  std::string os_version;          // The version of the booted deployment.
  // The number of packages that were layered or removed, and that belong to no extension and no kernel.
  std::uint64_t unsupported_packages = 0;
  // The reason why the deployment that was staged before this boot could not be finalized; empty if the system journal
  // of the previous boot has no such failure.
  std::string finalize_failure;
};

// Reads the facts, on a worker's thread.  A fact that cannot be found out keeps its default.
HostFacts ReadHostFacts(const host::ThisMachine& machine);

// Returns the ID of an os-release file in upper case, or "" if it has none.
std::string OsIdIn(std::string_view os_release);

}  // namespace pintle::agent
