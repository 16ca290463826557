// SPDX-License-Identifier: Apache-2.0
#include "clusterops/pool_labels.h"

#include <fmt/core.h>

#include <string>

#include "api/annotations.h"

namespace pintle::clusterops {

api::Labels BuiltInLabels(std::string_view pool) {
  const bool is_control_plane = pool == api::kMasterPool || pool == api::kArbiterPool;
  api::Labels labels;
  if (!is_control_plane && pool != api::kWorkerPool) return labels;
  labels.emplace(api::kBuiltInPoolLabel, "");
  labels.emplace(fmt::format("pools.operator.machineconfiguration.openshift.io/{}", pool), "");
  if (is_control_plane) labels.emplace(kRequiredForUpgradeLabel, "");
  return labels;
}

api::Labels MissingLabels(const api::MachineConfigPool& pool) {
  api::Labels missing;
  for (const auto& [label, value] : BuiltInLabels(pool.metadata.name)) {
    const std::string* const known = api::Find(pool.metadata.labels, label);
    if (known == nullptr || *known != value) missing.emplace(label, value);
  }
  return missing;
}

bool IsRequiredForUpgrade(const api::MachineConfigPool& pool) {
  return api::Find(pool.metadata.labels, kRequiredForUpgradeLabel) != nullptr;
}

}  // namespace pintle::clusterops
