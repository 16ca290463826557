// SPDX-License-Identifier: Apache-2.0
#pragma once

// The files that a KubeletConfig becomes on a node.

#include <vector>

#include "api/kubelet_config.h"
#include "base/result.h"
#include "generated/kubelet_configuration.h"
#include "generated/machine_config.h"

namespace pintle::generated {

// What the KubeletConfig says, laid over the configuration that its pool has without it.
Result<std::vector<NewFile>> KubeletFiles(const api::KubeletConfig& object, KubeletConfiguration base);

// A whole kubelet.conf.
Result<NewFile> KubeletConfFile(const KubeletConfiguration& config);

}  // namespace pintle::generated
