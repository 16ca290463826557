// SPDX-License-Identifier: Apache-2.0
#pragma once

// The Ignition config that a pool's new machines are given: the pool's rendered config, and files by which the machine
// becomes a node: who it is to be, how it reaches the cluster, and the rendered config itself, for the agent.

#include <string>
#include <string_view>

#include "api/controller_config.h"
#include "api/machine_config.h"
#include "api/machine_config_pool.h"
#include "base/result.h"
#include "ignition/spec_version.h"

namespace pintle::controller {

// What it is made of.
struct ServedSources {
  api::MachineConfig config;  // Rendered for the pool.
  std::string image = {};     // Built for the pool, when its machines run one; else empty.
  // Bundles of certificates as PEM; empty: the config has them already, or needs none.
  std::string kubelet_authorities = {};
  std::string cloud_authorities = {};
  std::string kubeconfig = {};  // With which a machine asks to become a node.
};

// The name of the rendered config for the pool's new machines: the newest, once a machine of the pool runs it.
const std::string& ServedConfigName(const api::MachineConfigPool& pool);

// The two bundles of a ControllerConfig.
Result<> AddAuthorities(const api::ControllerConfig& from, ServedSources& to);

// A kubeconfig by which a machine reaches this API server with a token.  `authorities` are PEM.
Result<std::string> KubeconfigText(const std::string& server, std::string_view authorities, const std::string& token);

// The config as the bytes that are served to who asks for this version.
Result<std::string> ServedText(const ServedSources& sources, ignition::SpecVersion version);

}  // namespace pintle::controller
