// SPDX-License-Identifier: Apache-2.0
#pragma once

// Decides about the write of one generated config, and returns whether the cluster has the config already, or why the
// API server has refused it.

#include <optional>

#include "base/result.h"
#include "controller/config_change.h"
#include "controller/generate_changes.h"
#include "controller/generate_inputs.h"

namespace pintle::controller {

struct ConfigOutcome {
  bool is_in_place = false;  // The mirror has the config as it is wanted.
  std::optional<Error> refusal = {};
};

// Adds the write that brings the config into the cluster, unless it is in place.  After the config was created, adds no
// write until the mirror has it.
ConfigOutcome WriteUnlessAwaited(const generated::MachineConfig& config, OwnedParts parts, MadeFrom made_from,
                                 const GenerateInputs& inputs, GenerateChanges& changes);

}  // namespace pintle::controller
