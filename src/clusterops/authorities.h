// SPDX-License-Identifier: Apache-2.0
#pragma once

// Bundles of authorities in ConfigMaps.

#include <string>
#include <string_view>

#include "api/config_map.h"

namespace pintle::clusterops {

// Returns the bundle under a key, or "".  It may be among the texts or among the bytes; bytes count if it is in both. A
// text that is base64 stands for the bytes.
std::string AuthoritiesIn(const api::ConfigMap& map, std::string_view key);

}  // namespace pintle::clusterops
