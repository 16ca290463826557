// SPDX-License-Identifier: Apache-2.0
#pragma once

// How often the workers of a cluster report that they are well, by the name of a profile.
//
// The control plane gives a node up when it has not reported for some multiple of that time; it reads the same profile.

#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "generated/kubelet_configuration.h"

namespace pintle::generated {

// Sets how often the nodes of this pool report; other pools than that of workers, and no profile, leave it as it is.
Result<> SetLatency(std::string_view pool, std::string_view profile, KubeletConfiguration& config);

// Why a cluster may not go from one profile to another at once: the fastest and the slowest are too far apart for nodes
// and control plane to change one after the other.  Nothing if it may.
std::optional<std::string> WhyNotAtOnce(std::string_view from, std::string_view to);

}  // namespace pintle::generated
