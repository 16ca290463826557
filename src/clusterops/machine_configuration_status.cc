// SPDX-License-Identifier: Apache-2.0
#include "clusterops/machine_configuration_status.h"

#include "json/field_list.h"
#include "plan/disruption_policy.h"

namespace pintle::clusterops {

std::optional<api::MachineConfigurationStatus> NextStatus(const api::MachineConfiguration& configuration) {
  api::MachineConfigurationStatus next = configuration.status;
  next.observed_generation = configuration.metadata.generation;
  next.node_disruption_policy_status.cluster_policies = plan::WithDefaults(configuration.spec.node_disruption_policy);
  if (json::Equal(next, configuration.status)) return std::nullopt;
  return next;
}

}  // namespace pintle::clusterops
