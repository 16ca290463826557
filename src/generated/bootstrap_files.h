// SPDX-License-Identifier: Apache-2.0
#pragma once

// The files that an installation gets: the pools with their rendered configs, and what serving these needs.  All of it
// is pure.
//
// They are those of the Machine Config Operator's bootstrap: machine-pools/POOL.yaml, machine-configs/RENDERED.yaml,
// controller-config/machine-config-controller.yaml, and api-server/api-server.yaml if the manifests have an APIServer.

#include <string>
#include <vector>

#include "base/result.h"
#include "generated/machine_config.h"
#include "generated/manifests.h"

namespace pintle::generated {

inline constexpr const char* kPoolsFolder = "machine-pools";
inline constexpr const char* kConfigsFolder = "machine-configs";
inline constexpr const char* kApiServerFolder = "api-server";

struct BootstrapVersions {
  std::string controller;        // Generated configs of manifests must have this version, if they have any.
  std::string operator_version;  // The ControllerConfig must have this version; empty if any will do.
};

struct BootstrapFile {
  std::string path;  // Below the destination.
  std::string text;
};

struct RenderedPool {
  std::string pool;
  std::string config;
};

struct BootstrapFiles {
  // Pools come last, so that whoever reads a pool finds the config that it names.
  std::vector<BootstrapFile> files;
  std::vector<RenderedPool> rendered;
  std::vector<std::string> warnings;
};

// Renders all pools from the configs of the manifests and from `configs`, which were generated.  Errors name the pool,
// and the place of a config that is wrong; then they have the words of the Machine Config Operator.
Result<BootstrapFiles> FilesForBootstrap(const Manifests& manifests, const std::vector<MachineConfig>& configs,
                                         const BootstrapVersions& versions);

}  // namespace pintle::generated
