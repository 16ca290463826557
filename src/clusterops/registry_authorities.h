// SPDX-License-Identifier: Apache-2.0
#pragma once

// The authorities of all registries together, which other operators of the cluster read from one ConfigMap.

#include "api/config_map.h"
#include "json/value.h"

namespace pintle::clusterops {

// Returns the data of that ConfigMap, by the name of the registry.  `spec` is that of the ControllerConfig; of two
// authorities of one registry, that of the user counts.
api::ConfigMap MergedRegistryAuthorities(const json::Value& spec);

}  // namespace pintle::clusterops
