// SPDX-License-Identifier: Apache-2.0
#include "generated/pool_selection.h"

namespace pintle::generated {

Result<bool> IsSelected(const api::MachineConfigPool& pool, const std::optional<api::LabelSelector>& selector) {
  const api::Selector compiled = TRY(api::Selector::Compile(selector), "invalid label selector");
  return selector && !selector->is_empty() && compiled.Matches(pool.metadata.labels);
}

}  // namespace pintle::generated
