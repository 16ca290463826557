// SPDX-License-Identifier: Apache-2.0
#pragma once

// Compares a generated config with the config of the same name in the cluster.
//
// Labels, annotations, owners and parts of the spec that others have added to the config stay.  There are two
// exceptions for owners.  A reference to a wanted owner that has other fields is replaced.  A reference that makes its
// owner the controller is replaced if a wanted owner is to be the controller, because a config can have one controller
// only.

#include <optional>
#include <string>
#include <variant>

#include "api/machine_config.h"
#include "generated/machine_config.h"
#include "generated/made_from.h"

namespace pintle::controller {

using generated::MadeFrom;

// The parts of a config's spec that a generator owns: spec.config, also the kernel arguments, or everything.
enum class OwnedParts { kConfig, kConfigAndArguments, kAll };

struct ConfigChange {
  std::string name;
  MadeFrom made_from;
  std::string object;  // The name in metrics: the pool's name, or the config's own name if it is made from templates.
  // The config to create, or a JSON patch of the existing config.
  std::variant<api::MachineConfig, json::Value> creation_or_patch;
};

// `existing` is the config in the cluster, or nullptr.  Returns nullopt if there is nothing to change.
std::optional<ConfigChange> ChangeTo(const api::MachineConfig* existing, const generated::MachineConfig& wanted,
                                     OwnedParts parts, MadeFrom made_from);

}  // namespace pintle::controller
