// SPDX-License-Identifier: Apache-2.0
#pragma once

// Decides whether a running machine can change from one config to another, or would have to be installed anew.

#include <string>
#include <string_view>
#include <vector>

#include "api/machine_config.h"
#include "api/machine_configuration.h"
#include "base/result.h"
#include "ignition/config.h"

namespace pintle::machineconfig {

// A reason why a running machine cannot change, in the words of the Machine Config Operator, and our advice.
struct Obstacle {
  std::string text;
  std::string advice;
};

// A config and its parsed Ignition part.
struct ParsedConfig {
  const api::MachineConfig& object;
  const ignition::Config& ignition;
};

struct Verdict {
  // The Machine Config Operator's message with the names of the configs; empty if the change is possible.
  std::string text;
  std::vector<Obstacle> obstacles;  // All of them, in the order in which the Machine Config Operator would find them.
  bool is_valid = true;             // Whether the new config is valid by itself.
};

// Returns the obstacles, and whether the new config is valid at all.
Verdict Judge(const ParsedConfig& from, const ParsedConfig& to,
              const api::IrreconcilableValidationOverrides& overrides);

// Returns the message that a config cannot be parsed.  `which` is "old" or "new".
std::string UnparsableText(std::string_view which, const api::MachineConfig& config, const Error& error);

}  // namespace pintle::machineconfig
