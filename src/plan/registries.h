// SPDX-License-Identifier: Apache-2.0
#pragma once

// Finds changes of /etc/containers/registries.conf that running pods cannot notice.
//
// CRI-O reads the file again without a restart.  A change that only adds mirrors for images named by digest cannot
// change an image.  Any other change might give a pod another image, so the node is drained.

#include <string>
#include <string_view>

#include "base/result.h"

namespace pintle::plan {

inline constexpr std::string_view kRegistriesPath = "/etc/containers/registries.conf";

// Returns the harm that a change may do, or "" if it is harmless.
Result<std::string> HarmInRegistries(std::string_view from, std::string_view to);

}  // namespace pintle::plan
