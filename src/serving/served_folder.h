// SPDX-License-Identifier: Apache-2.0
#pragma once

// Reads the pools to serve from a folder instead of a cluster: pool.yaml, mc.yaml, controllerconfig.yaml and
// kubeconfig.

#include <memory>
#include <string>

#include "base/result.h"
#include "serving/served_pool.h"

namespace pintle::serving {

// pool.yaml and mc.yaml may contain several objects each.  Requests for a pool whose config is not in mc.yaml fail.
Result<ServedPools> ReadServedFolder(const std::string& directory, const std::shared_ptr<event::TextCache>& cache);

}  // namespace pintle::serving
