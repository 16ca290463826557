// SPDX-License-Identifier: Apache-2.0
#pragma once

// Prints a MachineConfig in the form in which people write it.

#include "api/machine_config.h"
#include "base/result.h"
#include "json/parse.h"

namespace pintle::ctl {

// These functions print to standard output.
Result<> PrintYaml(api::MachineConfig config);
void PrintJson(api::MachineConfig config);
Result<> PrintYaml(const json::Value& document);

// Returns the config as a document, without the members of its spec that are null, false or an empty string.
json::Value WithoutUnsetMembers(api::MachineConfig config);

}  // namespace pintle::ctl
