// SPDX-License-Identifier: Apache-2.0
#pragma once

// Checks whether a machine can apply a MachineConfig.

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "api/machine_config.h"
#include "base/result.h"
#include "ignition/config.h"
#include "json/report.h"

namespace pintle::machineconfig {

inline constexpr std::string_view kDefaultKernel = "default";
inline constexpr std::string_view kRealtimeKernel = "realtime";
inline constexpr std::string_view k64kPagesKernel = "64k-pages";

// Returns the default for "" and for unknown types.
std::string_view CanonicalKernelType(std::string_view kernel_type);

// An extension of the OS and its packages.
struct Extension {
  std::string_view name;
  std::vector<std::string_view> packages;
};
std::span<const Extension> SupportedExtensions();

// Checks the whole config, and returns its Ignition config, if it has one, in the newest version.  Errors are in the
// words of the Machine Config Operator; warnings and the paths of problems go to `report`.
Result<std::optional<ignition::Config>> Validate(const api::MachineConfig& config, json::Report& report);

// Makes the checks of Validate() for the author of the config, and reports all problems at once, each with its place in
// the document.  Returns the Ignition config, or nullopt if there is none or if `report` has errors.
std::optional<ignition::Config> FindProblems(const api::MachineConfig& config, json::Report& report);

// Checks an Ignition config of any version by the rules of the newest version, which are stricter.  Also checks the
// modes of its files.
Result<> CheckIgnition(const ignition::Config& config);

}  // namespace pintle::machineconfig
