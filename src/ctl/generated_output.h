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

// Returns the names of the configs and the digests of their Ignition configs.  The text has the form of the lists that
// were recorded from the Machine Config Operator, so that the two can be compared byte for byte.
std::string DigestsText(const std::vector<generated::MachineConfig>& configs);

// Prints to standard output.
Result<> PrintGenerated(const std::vector<generated::MachineConfig>& configs, GeneratedForm form);

}  // namespace pintle::ctl
