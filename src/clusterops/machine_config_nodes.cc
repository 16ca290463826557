// SPDX-License-Identifier: Apache-2.0
#include "clusterops/machine_config_nodes.h"

#include <optional>
#include <string_view>
#include <utility>

#include "api/annotations.h"
#include "pool/membership.h"

namespace pintle::clusterops {
namespace {

// Stands for a pool or a config that is not known yet, because the API refuses empty texts in these fields.
constexpr const char* kNotYetSet = "not-yet-set";

std::string PoolOf(const api::Node& node, const std::optional<pool::Pools>& pools) {
  if (!pools) return kNotYetSet;
  const auto primary = pools->PrimaryOf(node);
  return primary && *primary != nullptr ? (*primary)->metadata.name : kNotYetSet;
}

api::MachineConfigNode NewMachineConfigNode(const api::Node& node, std::string pool) {
  api::MachineConfigNode created;
  created.metadata.name = node.metadata.name;
  api::OwnerReference& owner = created.metadata.owner_references.emplace_back();
  owner.api_version = "v1";
  owner.kind = "Node";
  owner.name = node.metadata.name;
  owner.uid = node.metadata.uid;
  created.spec.node.name = node.metadata.name;
  created.spec.pool.name = std::move(pool);
  const std::string& config = node.metadata.Annotation(api::kDesiredConfigAnnotation);
  created.spec.config_version.desired = config.empty() ? kNotYetSet : config;
  created.spec.config_image.desired_image = node.metadata.Annotation(api::kDesiredImageAnnotation);
  return created;
}

}  // namespace

MachineConfigNodeWork FindMachineConfigNodeWork(const MachineConfigNodeInputs& inputs) {
  std::optional<pool::Pools> pools;
  // While a selector is invalid, the pools of nodes are unknown.  The rollout pass sets the pools later.
  if (auto made = pool::Pools::Make(inputs.pools)) pools.emplace(*std::move(made));

  std::set<std::string_view> known;
  for (const api::MachineConfigNode* existing : inputs.known) known.insert(existing->metadata.name);
  std::set<std::string_view> nodes;
  MachineConfigNodeWork work;
  for (const api::Node* node : inputs.nodes) {
    nodes.insert(node->metadata.name);
    const bool is_wanted = !node->metadata.deletion_timestamp && !pool::IsWindows(*node) &&
                           !inputs.unreadable.contains(node->metadata.name);
    if (is_wanted && !known.contains(node->metadata.name)) {
      work.missing.push_back(NewMachineConfigNode(*node, PoolOf(*node, pools)));
    }
  }
  for (const api::MachineConfigNode* existing : inputs.known) {
    const std::string& name = existing->metadata.name;
    const bool is_kept =
        nodes.contains(name) || inputs.unreadable.contains(name) || existing->metadata.deletion_timestamp;
    if (!is_kept) work.stale.push_back({.name = name, .uid = existing->metadata.uid});
  }
  return work;
}

}  // namespace pintle::clusterops
