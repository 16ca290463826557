// SPDX-License-Identifier: Apache-2.0
#include "controller/default_pools.h"

#include <fmt/core.h>

#include <string>
#include <string_view>

#include "api/annotations.h"
#include "pool/control_plane.h"

namespace pintle::controller {
namespace {

enum class Upgrade { kNeedsIt, kGoesOnWithoutIt };

// Returns a pool that has the name of a role, selects its nodes and gets its configs.
api::MachineConfigPool PoolFor(std::string_view role, Upgrade upgrade) {
  api::MachineConfigPool pool;
  pool.metadata.name = role;
  pool.metadata.labels.emplace(api::kBuiltInPoolLabel, "");
  pool.metadata.labels.emplace(fmt::format("pools.operator.machineconfiguration.openshift.io/{}", role), "");
  if (upgrade == Upgrade::kNeedsIt) {
    pool.metadata.labels.emplace("operator.machineconfiguration.openshift.io/required-for-upgrade", "");
  }
  pool.spec.machine_config_selector.emplace().match_labels.emplace(api::kRoleLabel, role);
  pool.spec.node_selector.emplace().match_labels.emplace(fmt::format("{}{}", api::kRoleLabelPrefix, role), "");
  return pool;
}

}  // namespace

std::vector<api::MachineConfigPool> MissingPools(const View& view) {
  std::vector<api::MachineConfigPool> missing;
  const auto need = [&](std::string_view role, Upgrade upgrade) {
    if (view.PoolNamed(role) == nullptr) missing.push_back(PoolFor(role, upgrade));
  };
  need(api::kMasterPool, Upgrade::kNeedsIt);
  need(api::kWorkerPool, Upgrade::kGoesOnWithoutIt);
  if (view.topology() == pool::kArbiterTopology) need(api::kArbiterPool, Upgrade::kNeedsIt);
  return missing;
}

}  // namespace pintle::controller
