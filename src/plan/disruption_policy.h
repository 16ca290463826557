// SPDX-License-Identifier: Apache-2.0
#pragma once

// Decides which changes of a config need no reboot, and what they need instead.

#include <string_view>

#include "api/machine_configuration.h"

namespace pintle::plan {

using api::NodeDisruptionPolicy;

// Returns the policy that applies where an administrator has set none.
const NodeDisruptionPolicy& DefaultPolicy();

// Returns the defaults with the administrator's policies, which replace defaults for the same path or unit.
NodeDisruptionPolicy WithDefaults(const NodeDisruptionPolicy& user);

// Returns the policy for a file: the one that names it, or else the one of the nearest directory above it.  A policy's
// path may have wildcards (`*`, `?`, `[...]`, none of which matches a slash); a literal match takes precedence.
// Returns null if there is no policy.
const api::FilePolicy* FindFilePolicy(const NodeDisruptionPolicy& policy, std::string_view path);

// Returns the policy for a unit, by the same rules.
const api::UnitPolicy* FindUnitPolicy(const NodeDisruptionPolicy& policy, std::string_view name);

}  // namespace pintle::plan
