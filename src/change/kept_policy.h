// SPDX-License-Identifier: Apache-2.0
#pragma once

// What the cluster has said last of which changes need no reboot, for whoever changes the machine without asking the
// cluster.

#include "api/machine_configuration.h"
#include "base/result.h"
#include "base/root.h"

namespace pintle::change {

inline constexpr const char* kKeptPolicy = "/var/lib/pintle/policy.json";

// An empty one, which leaves the defaults, if none was kept.
Result<api::NodeDisruptionPolicy> ReadKeptPolicy(const Root& root);

Result<> KeepPolicy(const Root& root, const api::NodeDisruptionPolicy& policy);

}  // namespace pintle::change
