// SPDX-License-Identifier: Apache-2.0
#include "controller/default_pools.h"

#include <fmt/core.h>

#include <string>
#include <string_view>

#include "api/annotations.h"
#include "clusterops/pool_labels.h"
#include "pool/control_plane.h"

namespace pintle::controller {
namespace {

// Returns a pool that has the name of a role, selects its nodes and gets its configs.
api::MachineConfigPool PoolFor(std::string_view role, bool is_openshift) {
  api::MachineConfigPool pool;
  pool.metadata.name = role;
  pool.metadata.labels = clusterops::BuiltInLabels(role);
  pool.spec.machine_config_selector.emplace().match_labels.emplace(api::kRoleLabel, role);
  api::LabelSelector& nodes = pool.spec.node_selector.emplace();
  const std::string label = fmt::format("{}{}", api::kRoleLabelPrefix, role);
  if (is_openshift) {
    nodes.match_labels.emplace(label, "");
  } else {
    // Some installers, such as that of k3s, set the label's value to "true".
    nodes.match_expressions.push_back({.key = label, .op = "Exists", .values = {}});
  }
  return pool;
}

}  // namespace

std::vector<api::MachineConfigPool> MissingPools(const View& view) {
  std::vector<api::MachineConfigPool> missing;
  const auto need = [&](std::string_view role) {
    if (view.PoolNamed(role) == nullptr) missing.push_back(PoolFor(role, view.is_openshift));
  };
  need(api::kMasterPool);
  need(api::kWorkerPool);
  if (view.topology() == pool::kArbiterTopology) need(api::kArbiterPool);
  return missing;
}

}  // namespace pintle::controller
