// SPDX-License-Identifier: Apache-2.0
#pragma once

// Decides whether a change of /etc/containers/registries.conf could do harm to running pods.
//
// CRI-O reads the file again without a restart.  A change is harmless if it only adds mirrors or registries for images
// named by digest, limits mirrors to such images, or appends registries to the search list.  Removals, changes of a
// registry's prefix, location, `blocked` or `insecure`, and new mirrors or registries for other images might give a pod
// another image, so the node is drained.  As with the Machine Config Operator, a change of a registry's
// `mirror-by-digest-only` alone counts as harmless.

#include <string>
#include <string_view>

#include "base/result.h"

namespace pintle::plan {

inline constexpr std::string_view kRegistriesPath = "/etc/containers/registries.conf";

// Returns a description of the harm that a change may do, or "" if it is harmless.  Returns an error if one of the two
// texts is not a valid file.
Result<std::string> HarmInRegistries(std::string_view from, std::string_view to);

}  // namespace pintle::plan
