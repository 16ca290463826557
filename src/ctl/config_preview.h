// SPDX-License-Identifier: Apache-2.0
#pragma once

// Previews the config that a pool's nodes would get if some objects, such as KubeletConfigs, mirrors of registries or
// MachineConfigs, were applied to the cluster.
//
// The controllers run on a copy of the cluster in memory.  They need no templates for this, because the cluster has the
// configs that were made from the templates.

#include <span>
#include <string>

#include "api/machine_config.h"
#include "base/result.h"
#include "ctl/live_cluster.h"

namespace pintle::ctl {

struct ConfigPair {
  api::MachineConfig current;  // The config that the pool's nodes have, or are to have if they have none yet.
  api::MachineConfig next;     // The config that the nodes would get.
};

// Returns the present and the future config of a pool's nodes.  An object in `files` that the controllers would refuse
// is an error.  Problems of the cluster's own objects are only printed to standard error.
Result<ConfigPair> PreviewConfigs(LiveCluster& cluster, const std::string& pool, std::span<const std::string> files);

}  // namespace pintle::ctl
