// SPDX-License-Identifier: Apache-2.0
#include "controller/config_outcome.h"

#include <utility>

namespace pintle::controller {

ConfigOutcome WriteUnlessAwaited(const generated::MachineConfig& config, OwnedParts parts, MadeFrom made_from,
                                 const GenerateInputs& inputs, GenerateChanges& changes) {
  if (inputs.awaited_configs.contains(config.name)) return {};
  auto change = ChangeTo(inputs.ConfigNamed(config.name), config, parts, made_from);
  if (!change) return {.is_in_place = true};
  changes.configs.push_back(*std::move(change));
  const auto refusal = inputs.refused.find(config.name);
  if (refusal == inputs.refused.end()) return {};
  return {.refusal = Error(ErrorKind::kInvalid, refusal->second)};
}

}  // namespace pintle::controller
