// SPDX-License-Identifier: Apache-2.0
#pragma once

// Whether a running machine can get from one config to another, or would have to be installed anew.

#include <string>
#include <string_view>
#include <vector>

#include "api/machine_config.h"
#include "api/machine_configuration.h"
#include "base/result.h"
#include "ignition/config.h"

namespace pintle::machineconfig {

// Why not, with the words of the Machine Config Operator, and ours: what to do about it.
struct Obstacle {
  std::string text;
  std::string advice;
};

// A config with its Ignition part parsed.
struct ParsedConfig {
  const api::MachineConfig& object;
  const ignition::Config& ignition;
};

// All obstacles, those that the Machine Config Operator would find first come first; none: it can be done.
std::vector<Obstacle> ObstaclesBetween(const ParsedConfig& from, const ParsedConfig& to,
                                       const api::IrreconcilableValidationOverrides& overrides);

struct Verdict {
  std::string text;  // As the Machine Config Operator says it, with the names of the configs; empty: it can be done.
  std::vector<Obstacle> obstacles;
  bool is_valid = true;  // Whether the new config is one that any machine can be given.
};

// The obstacles, and whether the new config is one that a machine can be given at all.
Verdict Judge(const ParsedConfig& from, const ParsedConfig& to,
              const api::IrreconcilableValidationOverrides& overrides);

// That the old or the new config cannot be parsed.
std::string UnparsableText(std::string_view which, const api::MachineConfig& config, const Error& error);

}  // namespace pintle::machineconfig
