// SPDX-License-Identifier: Apache-2.0
#pragma once

// The objects that `oc adm inspect` and must-gather collect for the ClusterOperator `machine-config`.

#include <vector>

#include "api/cluster_operator.h"

namespace pintle::clusterops {

// Returns the objects in the order in which the ClusterOperator names them.
std::vector<api::RelatedObject> RelatedObjects();

}  // namespace pintle::clusterops
