// SPDX-License-Identifier: Apache-2.0
#pragma once

// Renders many machine configs to the one config of a pool's nodes.
//
// Configs are ordered by name, with those for workers first.  Their Ignition parts are merged, and their lists of
// kernel arguments and of extensions are joined.  Of each other field, the last value that is not the default counts,
// but images in generated configs are ignored.  The result and its name are exactly what the Machine Config Operator
// makes of the same configs.

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "api/controller_config.h"
#include "api/machine_config.h"
#include "api/machine_config_pool.h"
#include "api/machine_configuration.h"
#include "api/meta.h"
#include "api/os_image_stream.h"
#include "base/result.h"

namespace pintle::machineconfig {

// The inputs of a rendered config besides the machine configs.
struct RenderSettings {
  const api::ControllerConfig& controller_config;
  // The version of the controller.  Configs that another version has generated are refused, since they may be outdated.
  std::string controller_version;
  // The version of the operator that must have written the ControllerConfig; empty if any version will do.
  std::string operator_version = "";
  // The images of the pool's OS image stream; null for those of the ControllerConfig.
  const api::OSImageStreamSet* os_images = nullptr;
  // The name of the stream of `os_images`.
  std::string os_image_stream = "";
  // The nodes' current config, from which they must be able to reach the new one; null if there is none.
  const api::MachineConfig* current = nullptr;
  api::IrreconcilableValidationOverrides overrides = {};
};

struct Rendered {
  api::MachineConfig config;
  std::vector<api::ObjectReference> source;  // The configs in the order of merging.
  std::vector<std::string> warnings;
};

using MachineConfigs = std::vector<const api::MachineConfig*>;

// Returns the configs that a pool's selector matches.  An empty selector, and one that matches no config, are errors.
Result<MachineConfigs> SelectFor(const api::MachineConfigPool& pool, std::span<const api::MachineConfig> configs);

// Returns the images of the stream that a pool names, or of the default stream.
Result<const api::OSImageStreamSet*> ImagesFor(const api::MachineConfigPool& pool, const api::OSImageStream& stream);
// Like the function above, but a custom pool that names no stream gets the stream of the pool `worker`, unless `worker`
// is null.
Result<const api::OSImageStreamSet*> ImagesFor(const api::MachineConfigPool& pool, const api::MachineConfigPool* worker,
                                               const api::OSImageStream& stream);

// Errors and warnings are in the words of the Machine Config Operator.
Result<Rendered> Render(const api::MachineConfigPool& pool, MachineConfigs configs, const RenderSettings& settings);

// Returns an error for a config that is too large for the cluster's database.
Result<> CheckFitsCluster(const api::MachineConfig& config);
// Returns a warning for a config that fits but comes near the limit.
std::optional<std::string> SizeWarning(const api::MachineConfig& config);

}  // namespace pintle::machineconfig
