// SPDX-License-Identifier: Apache-2.0
#pragma once

// The inputs of the passes that generate MachineConfigs; borrowed for one look.

#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "controller/generate_changes.h"
#include "controller/sources_view.h"
#include "controller/view.h"
#include "generated/machine_config.h"
#include "generated/made_from.h"
#include "generated/template_folder.h"

namespace pintle::controller {

using generated::MadeFrom;

// The source of the templates' configs: they are made from the folder of templates, or they are in the cluster already.
enum class TemplatesFrom { kFolder, kCluster };

struct GenerateInputs {
  const View& view;
  const SourcesView& sources;
  const generated::TemplateFolder& templates;
  std::string version;  // The version of the controller with which the configs are annotated.
  WallTime now;
  // The errors of configs that could not be written, by name.
  const std::map<std::string, std::string, std::less<>>& refused;
  // Configs that were created and that the mirror does not have yet.
  const std::set<std::string, std::less<>>& awaited_configs;

  // The errors of objects whose finalizers could not be written.
  std::map<SourceName, std::string> refused_sources = {};

  // Only previews set the following members.
  TemplatesFrom templates_from = TemplatesFrom::kFolder;
  generated::MadeFromFilter only = {};  // Limits the sources from which configs are made.
  // Called with each config that is made, even if it needs no write.
  std::function<void(MadeFrom from, const generated::MachineConfig& config)> made = {};

  // Calls `made` if it is set.
  void ReportMade(MadeFrom from, const generated::MachineConfig& config) const {
    if (made) made(from, config);
  }

  // Returns nullptr if there is no such config in the mirror.
  const api::MachineConfig* ConfigNamed(std::string_view name) const { return view.ConfigNamed(name); }
  // Returns whether the cluster has the config, even if the mirror does not have it yet.
  bool HasConfig(std::string_view name) const { return awaited_configs.contains(name) || ConfigNamed(name) != nullptr; }
};

}  // namespace pintle::controller
