// SPDX-License-Identifier: Apache-2.0
#pragma once

// Builds the Ignition config for a pool's new machines.
//
// The config is the pool's rendered config, with additional files that turn the machine into a node: its annotations, a
// kubeconfig, bundles of authorities, and the rendered config itself, which the agent reads.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/controller_config.h"
#include "api/machine_config.h"
#include "api/machine_config_pool.h"
#include "base/result.h"
#include "ignition/spec_version.h"

namespace pintle::serving {

// The inputs of a served config.
struct ServedSources {
  api::MachineConfig config;  // Rendered for the pool.
  std::string image = {};     // The image that was built for the pool, or empty.
  // Certificates as PEM.  If a bundle is empty, no file is added or changed for it.
  std::string kubelet_authorities = {};
  std::string cloud_authorities = {};
  std::string kubeconfig = {};  // The credentials with which a machine requests to become a node.
  // Authorities of registries, as PEM, in the order in which they are added.
  struct Registry {
    std::string host;
    std::string authorities;
  };
  std::vector<Registry> registries = {};
  // The version of the empty Ignition config in the MachineConfig that the agent reads.  Nullopt stands for the version
  // that the client requests.
  std::optional<ignition::SpecVersion> encapsulated_version = {};
};

// Returns the name of the rendered config for new machines: the target if a machine of the pool already runs it, and
// otherwise the config that the pool's machines have.
const std::string& ServedConfigName(const api::MachineConfigPool& pool);

// Adds the bundles of authorities that a ControllerConfig has for the kubelet and for the cloud.
Result<> AddAuthorities(const api::ControllerConfig& from, ServedSources& to);

// Returns a kubeconfig for this API server and token.  `authorities` are PEM.
Result<std::string> KubeconfigText(const std::string& server, std::string_view authorities, const std::string& token);

// Returns the text that is served to a client of this version.
Result<std::string> ServedText(const ServedSources& sources, ignition::SpecVersion version);

}  // namespace pintle::serving
