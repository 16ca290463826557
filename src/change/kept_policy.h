// SPDX-License-Identifier: Apache-2.0
#pragma once

// Stores the policy by which the agent planned its last change.  A policy decides which changes need no reboot.
// Commands that change the machine read the stored policy, because they ask neither the cluster nor the agent.

#include "api/machine_configuration.h"
#include "base/result.h"
#include "base/root.h"
#include "change/format.h"

namespace pintle::change {

inline constexpr const char* kKeptPolicy = format::kPolicy.path;

// Returns the stored policy.  If none was stored, returns an empty policy, with which the defaults apply.
Result<api::NodeDisruptionPolicy> ReadKeptPolicy(const Root& root);

// Stores the policy, unless the same policy is stored already.
Result<> KeepPolicy(const Root& root, const api::NodeDisruptionPolicy& policy);

}  // namespace pintle::change
