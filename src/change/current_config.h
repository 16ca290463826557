// SPDX-License-Identifier: Apache-2.0
#pragma once

// Reads the config that a machine has.  It was stored on the machine when it was applied.

#include <string>
#include <string_view>

#include "api/machine_config.h"
#include "base/result.h"
#include "base/root.h"
#include "change/format.h"
#include "ignition/config.h"
#include "machineconfig/writers.h"
#include "plan/plan.h"

namespace pintle::change {

// The Machine Config Operator stores its config and image in the same files.  The file kWriters lists which
// MachineConfig wrote which path, unit and user.
inline constexpr const char* kConfigDirectory = "/etc/machine-config-daemon";
inline constexpr const char* kCurrentConfig = "/etc/machine-config-daemon/currentconfig";
inline constexpr const char* kWriters = format::kWriters.path;

// The Machine Config Operator gives this name to the config of a machine that has none yet.
inline constexpr std::string_view kNoConfig = "mco-empty-mc";
bool IsNoConfig(const api::MachineConfig& config);

struct CurrentConfig {
  api::MachineConfig object;
  ignition::Config ignition;
  machineconfig::Writers writers;

  operator plan::ParsedConfig() const { return {object, ignition}; }
};

// Returns the config that manages nothing.
CurrentConfig EmptyCurrentConfig();

// Returns the stored config, with its image embedded (image_mode.h), or EmptyCurrentConfig() if none is stored.
Result<CurrentConfig> ReadCurrentConfig(const Root& root);

// Returns the image that was built for the config and is stored beside it, or "".
Result<std::string> ReadCurrentImage(const Root& root);

}  // namespace pintle::change
