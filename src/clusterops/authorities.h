// SPDX-License-Identifier: Apache-2.0
#pragma once

// Bundles of authorities in ConfigMaps.

#include <string>
#include <string_view>

#include "api/config_map.h"

namespace pintle::clusterops {

// Returns the bundle under a key of `binaryData` or `data`, or "" if neither has the key.  If both have it,
// `binaryData` counts.  A text in `data` that is base64 is decoded.
std::string AuthoritiesIn(const api::ConfigMap& map, std::string_view key);

}  // namespace pintle::clusterops
