// SPDX-License-Identifier: Apache-2.0
#pragma once

// A worker latency profile sets how often the workers of a cluster report that they are healthy.
//
// The control plane reads the same profile.  It considers a node lost if the node has not reported for some multiple of
// the time between two reports.

#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "generated/kubelet_configuration.h"

namespace pintle::generated {

// Sets how often the nodes of the pool `worker` report.  Does nothing for other pools, or if `profile` is empty.  It is
// an error if there is no profile of this name.
Result<> SetWorkerLatency(std::string_view pool, std::string_view profile, KubeletConfiguration& config);

// Returns the name of the profile with which a kubelet reports as often as with this configuration, or "" if there is
// none.
std::string_view LatencyProfileOf(const KubeletConfiguration& config);

// Returns the error if a cluster must not change directly from one profile to another, or nullopt if it may.  A direct
// change between the fastest and the slowest profile is not allowed: nodes and control plane do not change at the same
// moment, and a control plane with the fastest profile considers nodes with the slowest one lost.
std::optional<std::string> TransitionError(std::string_view from, std::string_view to);

}  // namespace pintle::generated
