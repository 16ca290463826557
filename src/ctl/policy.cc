// SPDX-License-Identifier: Apache-2.0
#include "ctl/policy.h"

#include "change/kept_policy.h"
#include "machineconfig/machine_configuration_input.h"

namespace pintle::ctl {

Result<api::NodeDisruptionPolicy> PolicyFor(const CommandLine& line, const Machine& machine) {
  if (const auto file = line.Value("--policy")) return machineconfig::ReadPolicy(*file);
  return change::ReadKeptPolicy(machine.root());
}

}  // namespace pintle::ctl
