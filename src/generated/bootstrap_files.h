// SPDX-License-Identifier: Apache-2.0
#pragma once

// Makes the files from which an installation serves configs to its machines: the pools with their rendered configs, and
// the other objects that the server needs.  This code does no I/O.
//
// The Machine Config Operator's bootstrap has the same files: machine-pools/POOL.yaml, machine-configs/RENDERED.yaml,
// controller-config/machine-config-controller.yaml, and api-server/api-server.yaml if the manifests have an APIServer.

#include <string>
#include <vector>

#include "base/result.h"
#include "generated/machine_config.h"
#include "generated/manifests.h"

namespace pintle::generated {

inline constexpr const char* kPoolsFolder = "machine-pools";
inline constexpr const char* kApiServerFolder = "api-server";

struct BootstrapVersions {
  std::string controller;        // MachineConfigs in the manifests must have this version, or none.
  std::string operator_version;  // The ControllerConfig must have this version; empty accepts any version.
};

struct BootstrapFile {
  std::string path;  // Relative to the destination folder.
  std::string text;
};

struct RenderedPool {
  std::string pool;
  std::string config;
};

struct BootstrapFiles {
  // Pools come last, so that a process that reads a pool finds the config that the pool names.
  std::vector<BootstrapFile> files;
  std::vector<RenderedPool> rendered;
  std::vector<std::string> warnings;
};

// Renders all pools from the MachineConfigs in the manifests and from `configs`, which were generated.  Errors begin
// with the pool and the manifest of an invalid config, and end with the words of the Machine Config Operator.
Result<BootstrapFiles> FilesForBootstrap(const Manifests& manifests, const std::vector<MachineConfig>& configs,
                                         const BootstrapVersions& versions);

}  // namespace pintle::generated
