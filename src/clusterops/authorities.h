// SPDX-License-Identifier: Apache-2.0
#pragma once

// Reads bundles of certificate authorities from ConfigMaps.

#include <string>
#include <string_view>

#include "api/config_map.h"

namespace pintle::clusterops {

// Returns the bundle under a key of `binaryData` or `data`, or "" if neither has the key.  If both have the key,
// `binaryData` counts.  The value in `data` can be the bundle itself or its base64.
std::string AuthoritiesIn(const api::ConfigMap& map, std::string_view key);

}  // namespace pintle::clusterops
