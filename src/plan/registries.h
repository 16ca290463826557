// SPDX-License-Identifier: Apache-2.0
#pragma once

// Finds changes of /etc/containers/registries.conf that running pods cannot notice.
//
// CRI-O reads the file again without a restart.  If only mirrors are added, for images that are named by digest, an
// image is the same wherever it comes from; anything else might give a pod another image, and the node is drained.

#include <string>
#include <string_view>

#include "base/result.h"

namespace pintle::plan {

inline constexpr std::string_view kRegistriesPath = "/etc/containers/registries.conf";

// Returns why a change is not harmless, or "" if it is.
Result<std::string> HarmInRegistries(std::string_view from, std::string_view to);

}  // namespace pintle::plan
