// SPDX-License-Identifier: Apache-2.0
#pragma once

// The authorities of all registries together, which other operators of the cluster read from one ConfigMap.

#include "api/config_map.h"
#include "json/value.h"

namespace pintle::clusterops {

// Returns this ConfigMap without its metadata.  Its keys are the names of registries.  `spec` is the spec of the
// ControllerConfig.  If the spec has two bundles of authorities for one registry, the bundle of the user counts.
// Entries that have no name, or are not base64, are left out.
api::ConfigMap MergedRegistryAuthorities(const json::Value& spec);

}  // namespace pintle::clusterops
