// SPDX-License-Identifier: Apache-2.0
#pragma once

// Which changes of a config need no reboot, and what they need instead.

#include <string_view>

#include "api/machine_configuration.h"

namespace pintle::plan {

using api::NodeDisruptionPolicy;

// What holds when an administrator says nothing.
const NodeDisruptionPolicy& DefaultPolicy();

// The defaults with the administrator's own: those for the same path or unit are replaced, others are added.
NodeDisruptionPolicy WithDefaults(const NodeDisruptionPolicy& user);

// The policy for a file: the one that names it, or else the nearest directory above it.  A path of a policy may have
// wildcards (`*`, `?`, `[...]`, none of which takes a slash); one that matches literally goes before.  Null: none.
const api::FilePolicy* FindFilePolicy(const NodeDisruptionPolicy& policy, std::string_view path);

// The policy for a unit, by the same rules.
const api::UnitPolicy* FindUnitPolicy(const NodeDisruptionPolicy& policy, std::string_view name);

}  // namespace pintle::plan
