// SPDX-License-Identifier: Apache-2.0
#pragma once

// A MachineConfig as people write it.

#include "api/machine_config.h"
#include "base/result.h"

namespace pintle::ctl {

// On standard output.
Result<> PrintYaml(api::MachineConfig config);

}  // namespace pintle::ctl
