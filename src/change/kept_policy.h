// SPDX-License-Identifier: Apache-2.0
#pragma once

// The policy by which the agent planned its last change: which changes need no reboot.  Commands that change the
// machine use it, since they ask neither the cluster nor the agent.

#include "api/machine_configuration.h"
#include "base/result.h"
#include "base/root.h"

namespace pintle::change {

inline constexpr const char* kKeptPolicy = "/var/lib/pintle/policy.json";

// Returns an empty policy, which leaves the defaults, if none was stored.
Result<api::NodeDisruptionPolicy> ReadKeptPolicy(const Root& root);

Result<> KeepPolicy(const Root& root, const api::NodeDisruptionPolicy& policy);

}  // namespace pintle::change
