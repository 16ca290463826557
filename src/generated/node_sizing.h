// SPDX-License-Identifier: Apache-2.0
#pragma once

// How much of a node its services keep for themselves, and whether the node works that out itself when it starts.
//
// The kubelet's own configuration cannot say the latter, so that three of the amounts stand in a file of variables.

#include <optional>

#include "generated/kubelet_configuration.h"
#include "generated/machine_config.h"

namespace pintle::generated {

// Takes the amounts of memory, processors and storage out of `reserved`, the systemReserved of a KubeletConfig.  No
// file if it has none of them and leaves open who decides.
std::optional<NewFile> TakeNodeSizing(std::optional<bool> decides_itself, Texts& reserved);

}  // namespace pintle::generated
