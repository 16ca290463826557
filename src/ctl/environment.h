// SPDX-License-Identifier: Apache-2.0
#pragma once

// Reads environment variables.

#include <cstdlib>
#include <string_view>

namespace pintle::ctl {

// Returns the value of an environment variable, or "" if it is not set.
inline std::string_view FromEnvironment(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

}  // namespace pintle::ctl
