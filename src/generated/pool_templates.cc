// SPDX-License-Identifier: Apache-2.0
#include "generated/pool_templates.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "api/controller_config.h"
#include "api/machine_config_pool.h"
#include "generated/templates.h"
#include "json/go_json.h"

namespace pintle::generated {
namespace {

bool IsMadeByTemplates(const api::MachineConfig& config) {
  const auto& owners = config.metadata.owner_references;
  return std::any_of(owners.begin(), owners.end(),
                     [](const auto& owner) { return owner.kind == api::ControllerConfig::kKind; });
}

}  // namespace

PoolTemplates::PoolTemplates(const std::vector<const api::MachineConfig*>& configs) {
  for (const api::MachineConfig* config : configs) {
    const std::string* const role = api::Find(config->metadata.labels, api::kRoleLabel);
    if (role == nullptr || !IsMadeByTemplates(*config)) continue;
    MachineConfig made;
    made.name = config->metadata.name;
    made.role = *role;
    made.config = json::GoJson(config->spec.config);
    (*made_.try_emplace(*role, std::vector<MachineConfig>()).first->second).push_back(std::move(made));
  }
}

Result<std::span<const MachineConfig>> PoolTemplates::For(const std::string& pool) {
  const bool has_own_templates = pool == api::kMasterPool || pool == api::kArbiterPool;
  const std::string role = has_own_templates ? pool : std::string(api::kWorkerPool);
  auto found = made_.find(role);
  if (found == made_.end() && rendering_) {
    found = made_.emplace(role, MachineConfigsOfRole(rendering_->templates, rendering_->config, role)).first;
  }
  if (found == made_.end()) {
    return Error(ErrorKind::kNotFound,
                 fmt::format("the cluster has no MachineConfigs of the role {} that belong to its ControllerConfig; "
                             "such MachineConfigs are made from templates",
                             role));
  }
  if (!found->second) return found->second.error();
  return std::span<const MachineConfig>(*found->second);
}

}  // namespace pintle::generated
