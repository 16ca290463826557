// SPDX-License-Identifier: Apache-2.0
#pragma once

// The policy by which the agent planned its last change: which changes need no reboot.  Commands that change the
// machine go by it, since they ask neither the cluster nor the agent.

#include "api/machine_configuration.h"
#include "base/result.h"
#include "base/root.h"

namespace pintle::change {

inline constexpr const char* kKeptPolicy = "/var/lib/pintle/policy.json";

// An empty one, which leaves the defaults, if none was kept.
Result<api::NodeDisruptionPolicy> ReadKeptPolicy(const Root& root);

Result<> KeepPolicy(const Root& root, const api::NodeDisruptionPolicy& policy);

}  // namespace pintle::change
