// SPDX-License-Identifier: Apache-2.0
#pragma once

// Makes the files that the MachineConfig of a KubeletConfig has.

#include <vector>

#include "api/kubelet_config.h"
#include "base/result.h"
#include "generated/kubelet_configuration.h"
#include "generated/machine_config.h"

namespace pintle::generated {

// Makes all files of a KubeletConfig.  For kubelet.conf, the object's settings are merged over `base`, which is the
// configuration that the pool has without KubeletConfigs.
Result<std::vector<NewFile>> KubeletFiles(const api::KubeletConfig& object, KubeletConfiguration base);

// Makes a complete kubelet.conf.
Result<NewFile> KubeletConfFile(const KubeletConfiguration& config);

}  // namespace pintle::generated
