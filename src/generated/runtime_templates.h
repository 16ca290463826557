// SPDX-License-Identifier: Apache-2.0
#pragma once

// Finds the configuration files of container tools in the configs that templates make.  The files that nodes get are
// based on these files.

#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "generated/machine_config.h"
#include "generated/pool_templates.h"

namespace pintle::generated {

// The contents of the files.
struct RuntimeTemplates {
  std::string storage_conf;
  std::string registries_conf;
  std::string policy_json;
};

// Errors have the words of the Machine Config Operator, which puts one of these texts before them.
inline constexpr std::string_view kNoTemplatesForRuntimeConfigs = "could not generate origin ContainerRuntime Configs";
inline constexpr std::string_view kNoTemplatesForImages = "could not generate original ContainerRuntime Configs";

// `configs` are made from the templates of one role.  It is an error if one of the three files is missing.
Result<RuntimeTemplates> FindRuntimeTemplates(std::span<const MachineConfig> configs);

// Returns the error about templates of a role that cannot be executed.
Error RuntimeTemplatesFailed(const Error& error);

// Finds the files in the configs that templates make for a pool.
Result<RuntimeTemplates> RuntimeTemplatesFor(PoolTemplates& templates, const std::string& pool);

}  // namespace pintle::generated
