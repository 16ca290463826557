// SPDX-License-Identifier: Apache-2.0
#include "plan/cluster_policy.h"

namespace pintle::plan {

const api::NodeDisruptionPolicy& PolicyOf(const api::MachineConfiguration& configuration) {
  const auto& completed = configuration.status.node_disruption_policy_status.cluster_policies;
  const bool is_fresh = configuration.status.observed_generation == configuration.metadata.generation;
  return completed && is_fresh ? *completed : configuration.spec.node_disruption_policy;
}

}  // namespace pintle::plan
