// SPDX-License-Identifier: Apache-2.0
#pragma once

// Whether a MachineConfig is one that a machine can be given.

#include <optional>
#include <span>
#include <string>
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

// "" and what is not known count as the default.
std::string_view CanonicalKernelType(std::string_view kernel_type);

// An extension of the OS, and the packages that it consists of.
struct Extension {
  std::string_view name;
  std::vector<std::string_view> packages;
};
std::span<const Extension> SupportedExtensions();

// Checks all of it, and gives the Ignition config that it holds, if any, in the newest version.  The errors are those
// of the Machine Config Operator; warnings and the paths of problems go to `report`.
Result<std::optional<ignition::Config>> Validate(const api::MachineConfig& config, json::Report& report);

// The same for the person who wrote it: all problems at once, each with its place in the document.  Nothing when there
// is no config that can be used.
std::optional<ignition::Config> FindProblems(const api::MachineConfig& config, json::Report& report);

// The same of an Ignition config in the newest version, however old it was: newer versions ask for more.
Result<> CheckIgnition(const ignition::Config& config);

}  // namespace pintle::machineconfig
