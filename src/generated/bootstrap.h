// SPDX-License-Identifier: Apache-2.0
#pragma once

// Makes the MachineConfigs for the installation of a cluster, from manifests.
//
// Later, the controller of the running cluster makes these configs again.  Their contents must not change then, because
// the name of a rendered config depends on its contents, and the first machines already have the rendered configs of
// the installation.

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
  std::string release;             // The version whose feature gates apply.
  MadeFromFilter only = {};        // A preview can limit the configs that are made.
};

struct BootstrapConfigs {
  std::vector<MachineConfig> configs;   // Grouped by kind of input, in the operator's order.
  std::vector<std::string> complaints;  // Messages about inputs that were left out, and about files that are missing.
};

// Returns the version of the release from the annotations of a ControllerConfig.  If there is none, returns the version
// that all unreleased builds have.
std::string ReleaseOf(const json::Value& controller_config);

// Validates the KubeletConfigs and ContainerRuntimeConfigs.  The error names the manifest of the first invalid object.
Result<> CheckKubeletAndRuntimeConfigs(const Manifests& manifests);

// Makes the configs.  The manifests must have a ControllerConfig and, unless only templates are used, a FeatureGate.
// Errors have the words of the Machine Config Operator, which do not name the manifest; so call
// CheckKubeletAndRuntimeConfigs() first.
Result<BootstrapConfigs> ConfigsAtBootstrap(const Manifests& manifests, const TemplateFolder& templates,
                                            const BootstrapSettings& settings);

}  // namespace pintle::generated
