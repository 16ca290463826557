// SPDX-License-Identifier: Apache-2.0
#pragma once

// Makes the MachineConfigs of a cluster that is being installed, from manifests and without a cluster.
//
// The controller of the cluster makes the same configs later.  Their contents must be the same, since rendered configs
// are named by their contents, and the first machines have the rendered ones of the installation.

#include <string>
#include <vector>

#include "base/result.h"
#include "generated/machine_config.h"
#include "generated/made_from.h"
#include "generated/manifests.h"
#include "generated/template_folder.h"

namespace pintle::generated {

struct BootstrapSettings {
  std::string pull_secret;         // JSON.
  std::string controller_version;  // Identifies the build that makes the configs.
  std::string release;             // The version whose features count.
  MadeFromOnly only = {};          // For previews.
};

struct BootstrapConfigs {
  std::vector<MachineConfig> configs;   // In the order of the operator: by what they are made from.
  std::vector<std::string> complaints;  // What was left out, and why.
};

// Returns the version of the release that a ControllerConfig is from, or the one that unreleased builds have.
std::string ReleaseOf(const json::Value& controller_config);

// Validates the objects of users, and returns an error with the place of the first wrong one.
Result<> CheckObjects(const Manifests& manifests);

// The manifests must have a ControllerConfig and, unless only templates are used, a FeatureGate.  Errors have the words
// of the Machine Config Operator, which contain no places; so check the objects before.
Result<BootstrapConfigs> ConfigsAtBootstrap(const Manifests& manifests, const TemplateFolder& templates,
                                            const BootstrapSettings& settings);

}  // namespace pintle::generated
