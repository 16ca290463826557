// SPDX-License-Identifier: Apache-2.0
#pragma once

// Provides the configs that templates make for each pool.  Generators base their files on the files in these configs.
//
// The configs are made once for each role.  A pool other than master, worker and arbiter has the configs of worker.

#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "api/machine_config.h"
#include "base/result.h"
#include "generated/machine_config.h"
#include "generated/render_config.h"
#include "generated/template_folder.h"

namespace pintle::generated {

class PoolTemplates {
 public:
  // The templates must outlive this object.
  PoolTemplates(const TemplateFolder& templates, const json::Value& spec, const TlsSettings& tls)
      : rendering_(Rendering{.templates = templates, .config = RenderConfig(spec, "", tls)}) {}
  // Uses the configs that a ControllerConfig owns, because these were made from templates.
  explicit PoolTemplates(const std::vector<const api::MachineConfig*>& configs);

  // Returns the configs that templates make for a pool.
  Result<std::span<const MachineConfig>> For(const std::string& pool);

 private:
  struct Rendering {
    const TemplateFolder& templates;
    RenderConfig config;
  };

  std::optional<Rendering> rendering_;                              // Not set if the configs come from the cluster.
  std::map<std::string, Result<std::vector<MachineConfig>>> made_;  // By role.
};

}  // namespace pintle::generated
