// SPDX-License-Identifier: Apache-2.0
#include "ctl/policy.h"

#include "change/kept_policy.h"
#include "machineconfig/machine_configuration_input.h"
#include "plan/actions.h"

namespace pintle::ctl {

Result<api::NodeDisruptionPolicy> ReadPolicyFile(const std::string& file) {
  auto policy = TRY(machineconfig::ReadPolicy(file));
  TRY(plan::ExpectKnownActions(policy), file);
  return policy;
}

Result<api::NodeDisruptionPolicy> PolicyFor(const CommandLine& line, const Machine& machine) {
  if (const auto file = line.Value("--policy")) return ReadPolicyFile(*file);
  return change::ReadKeptPolicy(machine.root());
}

}  // namespace pintle::ctl
