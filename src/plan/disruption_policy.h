// SPDX-License-Identifier: Apache-2.0
#pragma once

// Decides which changes of a config need no reboot, and which actions they need instead.

#include <string_view>

#include "api/machine_configuration.h"

namespace pintle::plan {

using api::NodeDisruptionPolicy;

// Returns the policy that applies where an administrator has set none.
const NodeDisruptionPolicy& DefaultPolicy();

// Returns the defaults with the administrator's policies, which replace defaults for the same path or unit.
NodeDisruptionPolicy WithDefaults(const NodeDisruptionPolicy& user);

// Returns the policy with the longest path among those that name the file or a directory above it.  If there is none,
// returns the one with the longest path whose wildcards (`*`, `?`, `[...]`; none matches a slash) match the file or a
// directory above it.  Returns null if there is no such policy either.
const api::FilePolicy* FindFilePolicy(const NodeDisruptionPolicy& policy, std::string_view path);

// Returns the policy that names the unit, or else the first one whose wildcards match the name, or else null.
const api::UnitPolicy* FindUnitPolicy(const NodeDisruptionPolicy& policy, std::string_view name);

}  // namespace pintle::plan
