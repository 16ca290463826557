// SPDX-License-Identifier: Apache-2.0
#include "generated/pool_selection.h"

#include <string>

#include "api/annotations.h"

namespace pintle::generated {

Result<bool> IsSelected(const api::MachineConfigPool& pool, const std::optional<api::LabelSelector>& selector) {
  const api::Selector compiled = TRY(api::Selector::Compile(selector), "invalid label selector");
  return selector && !selector->is_empty() && compiled.Matches(pool.metadata.labels);
}

bool IsBuiltInPool(const api::MachineConfigPool& pool) {
  const std::string* const value = api::Find(pool.metadata.labels, api::kBuiltInPoolLabel);
  return value != nullptr && value->empty();
}

}  // namespace pintle::generated
