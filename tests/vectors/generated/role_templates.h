// SPDX-License-Identifier: Apache-2.0
#pragma once

// The configs that a folder of templates makes for a pool.  Several kinds of cases are based on them.

#include <filesystem>
#include <string>
#include <vector>

#include "base/result.h"
#include "generated/machine_config.h"
#include "generated/template_folder.h"
#include "json/value.h"

namespace pintle::vectors {

class RoleTemplates {
 public:
  // Throws if the folder cannot be read.
  explicit RoleTemplates(const std::filesystem::path& folder);

  // Returns the configs that the templates make for the pool, in the cluster of this ControllerConfig and APIServer.
  // `api_server` may be nullptr.
  Result<std::vector<generated::MachineConfig>> For(const std::string& pool, const json::Value& controller_config,
                                                    const json::Value* api_server) const;

 private:
  generated::TemplateFolder folder_;
};

}  // namespace pintle::vectors
