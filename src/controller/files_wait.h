// SPDX-License-Identifier: Apache-2.0
#pragma once

// Asks the nodes of a strictly paused pool to hold back the files of the ControllerConfig as well.
//
// The request expires and is renewed long before that (api/waiting_files.h), so that it stays valid while controllers
// are restarted, and ends by itself when the last of ours is gone.

#include <chrono>

#include "api/machine_config_pool.h"
#include "api/node.h"
#include "base/clock.h"
#include "pool/target.h"

namespace pintle::controller {

inline constexpr auto kFilesWaitFor = std::chrono::days(7);
inline constexpr auto kFilesWaitRenewedAfter = std::chrono::days(1);

// Returns whether nothing at all passes the pause of this pool.
bool IsStrictlyPaused(const api::MachineConfigPool& pool);

// Returns the change to a node of the pool.
pool::NodePatch FilesWaitUpkeep(const api::MachineConfigPool& pool, const api::Node& node, WallTime now);

}  // namespace pintle::controller
