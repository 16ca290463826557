// SPDX-License-Identifier: Apache-2.0
#pragma once

// Reads pools and their configs from a folder instead of from a cluster.  The folder has the files pool.yaml, mc.yaml,
// controllerconfig.yaml and kubeconfig.

#include <memory>
#include <string>

#include "base/result.h"
#include "serving/served_pool.h"

namespace pintle::serving {

// Returns the pools of the folder.  All four files must exist.  pool.yaml and mc.yaml may have several objects each,
// and controllerconfig.yaml must have exactly one.  Requests for a pool fail if the pool's config is not in mc.yaml.
// `cache` keeps texts that were made for answers.
Result<ServedPools> ReadServedFolder(const std::string& directory, const std::shared_ptr<event::TextCache>& cache);

}  // namespace pintle::serving
