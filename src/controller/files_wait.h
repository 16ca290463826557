// SPDX-License-Identifier: Apache-2.0
#pragma once

// Nodes of a pool that is strictly paused are told that the files of the ControllerConfig wait as well.
//
// It is told for a time and renewed long before that is over (api/waiting_files.h), so that it holds while controllers
// come and go, and ends by itself when the last of ours has gone.

#include <chrono>

#include "api/machine_config_pool.h"
#include "api/node.h"
#include "base/clock.h"
#include "pool/target.h"

namespace pintle::controller {

inline constexpr auto kFilesWaitFor = std::chrono::days(7);
inline constexpr auto kFilesWaitRenewedAfter = std::chrono::days(1);

// Whether nothing at all passes the pause of this pool.
bool IsStrictlyPaused(const api::MachineConfigPool& pool);

// What is to be changed on a node of the pool.
pool::NodePatch FilesWaitUpkeep(const api::MachineConfigPool& pool, const api::Node& node, WallTime now);

}  // namespace pintle::controller
