// SPDX-License-Identifier: Apache-2.0
#pragma once

// Requests that the nodes of a strictly paused pool hold back the files of the ControllerConfig as well.
//
// The request is an annotation that expires and is renewed long before its end (api/waiting_files.h).  So it stays
// valid while the controller is restarted, and ends by itself after Pintle's controller has been removed.

#include <chrono>

#include "api/machine_config_pool.h"
#include "api/node.h"
#include "base/clock.h"
#include "pool/target.h"

namespace pintle::controller {

// A request expires after this time.
inline constexpr auto kFilesWaitFor = std::chrono::days(7);
// A request is renewed after this time.
inline constexpr auto kFilesWaitRenewedAfter = std::chrono::days(1);

// Returns whether the pool is paused and its pause policy is Strict: then no change at all passes.
bool IsStrictlyPaused(const api::MachineConfigPool& pool);

// Returns a patch that sets, renews or removes the request on a node of the pool.  The patch is empty if nothing has to
// change.
pool::NodePatch FilesWaitUpkeep(const api::MachineConfigPool& pool, const api::Node& node, WallTime now);

}  // namespace pintle::controller
