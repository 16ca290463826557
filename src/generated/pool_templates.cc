// SPDX-License-Identifier: Apache-2.0
#include "generated/pool_templates.h"

#include "api/machine_config_pool.h"
#include "generated/templates.h"

namespace pintle::generated {

Result<std::span<const MachineConfig>> PoolTemplates::For(const std::string& pool) {
  const bool is_own = pool == api::kMasterPool || pool == api::kArbiterPool;
  const std::string role = is_own ? pool : std::string(api::kWorkerPool);
  auto found = made_.find(role);
  if (found == made_.end()) {
    found = made_.emplace(role, MachineConfigsOfRole(templates_, config_, role)).first;
  }
  if (!found->second) return found->second.error();
  return std::span<const MachineConfig>(*found->second);
}

}  // namespace pintle::generated
