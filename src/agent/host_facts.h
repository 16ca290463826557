// SPDX-License-Identifier: Apache-2.0
#pragma once

// What is told of the machine itself, which stays the same until it boots anew.

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "host/this_machine.h"

namespace pintle::agent {

struct HostFacts {
  std::string os = "unsupported";  // "RHCOS"
  std::string os_version;          // Of the booted deployment.
  // Packages that were layered or taken out by hand, and that no extension accounts for.
  std::uint64_t unsupported_packages = 0;
  // Why the deployment that was staged before this boot could not be made; empty: it could, or there was none.
  std::string finalize_failure;
};

// For a worker's thread.  What cannot be told is left as it is above.
HostFacts ReadHostFacts(const host::ThisMachine& machine);

// The ID of an os-release file in upper case; "" if it has none.
std::string OsIdIn(std::string_view os_release);

}  // namespace pintle::agent
