// SPDX-License-Identifier: Apache-2.0
#pragma once

// The config that a machine has, as it was kept when it was applied.

#include <string>
#include <string_view>

#include "api/machine_config.h"
#include "base/result.h"
#include "base/root.h"
#include "ignition/config.h"
#include "machineconfig/writers.h"
#include "plan/plan.h"

namespace pintle::change {

// Where it is kept, as the Machine Config Operator does, and beside it who says what in it.
inline constexpr const char* kConfigDirectory = "/etc/machine-config-daemon";
inline constexpr const char* kCurrentConfig = "/etc/machine-config-daemon/currentconfig";
inline constexpr const char* kWriters = "/etc/machine-config-daemon/pintle-writers.json";

// The name of the config of a machine that has none yet, as the Machine Config Operator calls it.
inline constexpr std::string_view kNoConfig = "mco-empty-mc";
bool IsNoConfig(const api::MachineConfig& config);

struct CurrentConfig {
  api::MachineConfig object;
  ignition::Config ignition;
  machineconfig::Writers writers;

  operator plan::ParsedConfig() const { return {object, ignition}; }
};

// What says nothing.
CurrentConfig EmptyConfig();

Result<CurrentConfig> ReadCurrentConfig(const Root& root);

// The image that was built for it and is kept beside it, or "".
Result<std::string> ReadCurrentImage(const Root& root);

}  // namespace pintle::change
