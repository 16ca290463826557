// SPDX-License-Identifier: Apache-2.0
#pragma once

// The authorities of all registries together, which other operators of the cluster read from one ConfigMap.

#include "api/config_map.h"
#include "json/value.h"

namespace pintle::clusterops {

// Returns the data of that ConfigMap, by the name of the registry.  `spec` is the spec of the ControllerConfig.  If it
// has two bundles of authorities for one registry, the bundle that the user has set counts.  Entries that have no name,
// or are not base64, are left out.
api::ConfigMap MergedRegistryAuthorities(const json::Value& spec);

}  // namespace pintle::clusterops
