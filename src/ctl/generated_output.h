// SPDX-License-Identifier: Apache-2.0
#pragma once

// Prints MachineConfigs that were generated.

#include <string>
#include <vector>

#include "base/result.h"
#include "generated/machine_config.h"

namespace pintle::ctl {

enum class GeneratedForm { kYaml, kJson, kNames, kDigests };

// `format` is a value of -o of `pintle generate`.
GeneratedForm GeneratedFormNamed(const std::string& format);

// Returns the names of the configs and the digests of their Ignition configs, byte for byte in the form of the lists
// that the Machine Config Operator's answers are compared with.
std::string DigestsText(const std::vector<generated::MachineConfig>& configs);

// Prints to standard output.
Result<> PrintGenerated(const std::vector<generated::MachineConfig>& configs, GeneratedForm form);

}  // namespace pintle::ctl
