// SPDX-License-Identifier: Apache-2.0
#pragma once

// A MachineConfig as people write it.

#include "api/machine_config.h"
#include "base/result.h"
#include "json/parse.h"

namespace pintle::ctl {

// On standard output.
Result<> PrintYaml(api::MachineConfig config);
void PrintJson(api::MachineConfig config);
Result<> PrintYaml(const json::Value& document);

// What it says, without what it says nothing of.
json::Value ToWritten(api::MachineConfig config);

}  // namespace pintle::ctl
