// SPDX-License-Identifier: Apache-2.0
#pragma once

// Many machine configs to the one that a pool's nodes get.
//
// The order is by name, with those for workers first; the Ignition parts are merged, the rest is chosen or joined. What
// comes out, and its name, is exactly what the Machine Config Operator makes of the same configs.

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "api/controller_config.h"
#include "api/machine_config.h"
#include "api/machine_config_pool.h"
#include "api/machine_configuration.h"
#include "api/meta.h"
#include "api/os_image_stream.h"
#include "base/result.h"

namespace pintle::machineconfig {

// What goes into a rendered config besides the machine configs.
struct RenderSettings {
  const api::ControllerConfig& controller_config;
  // Who renders.  Configs that another version has generated are refused, since they may not fit.
  std::string controller_version;
  // Which version the operator is that has to have written the ControllerConfig.  Empty: not known, any will do.
  std::string operator_version = "";
  // The images that the pool's OS image stream names; none: those of the ControllerConfig.
  const api::OSImageStreamSet* os_images = nullptr;
  // The name of that stream.
  std::string os_image_stream = "";
  // What the nodes have now, from which they must be able to get to the new one; none: nothing yet.
  const api::MachineConfig* current = nullptr;
  api::IrreconcilableValidationOverrides overrides = {};
};

struct Rendered {
  api::MachineConfig config;
  std::vector<api::ObjectReference> source;  // The configs in the order of merging.
  std::vector<std::string> warnings;
};

using MachineConfigs = std::vector<const api::MachineConfig*>;

// The configs that a pool's selector chooses.
Result<MachineConfigs> SelectFor(const api::MachineConfigPool& pool, std::span<const api::MachineConfig> configs);

// The images of the stream that a pool wants: the one named, or the default.
Result<const api::OSImageStreamSet*> ImagesFor(const api::MachineConfigPool& pool, const api::OSImageStream& stream);

Result<Rendered> Render(const api::MachineConfigPool& pool, MachineConfigs configs, const RenderSettings& settings);

// Larger ones do not fit into the cluster's database.
Result<> CheckSize(const api::MachineConfig& config);
// For one that fits and comes near to not fitting: what to know of it before it does not.
std::optional<std::string> SizeWarning(const api::MachineConfig& config);

}  // namespace pintle::machineconfig
