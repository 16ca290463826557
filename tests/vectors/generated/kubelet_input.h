// SPDX-License-Identifier: Apache-2.0
#pragma once

// Reads the inputs of kubelets' configs from a case.

#include <optional>
#include <vector>

#include "api/feature_gate.h"
#include "api/kubelet_config.h"
#include "api/machine_config_pool.h"
#include "api/node_settings.h"
#include "generated/kubelet_bootstrap.h"
#include "json/parse.h"
#include "vectors/generated/role_templates.h"

namespace pintle::vectors {

struct KubeletInput {
  const RoleTemplates* templates = nullptr;
  json::Value controller_config;
  std::vector<api::MachineConfigPool> pools;
  std::vector<api::KubeletConfig> kubelet_configs;
  api::FeatureGate feature_gate;
  api::NodeSettings node;
  json::Value api_server;
};

// Returns the objects of each kind in `documents`, or those in `base` if `documents` has none of the kind.  The caller
// sets the templates.
KubeletInput ReadKubeletInput(const std::vector<json::Value>& base, const std::vector<json::Value>& documents);

generated::TemplatesFor TemplatesOf(const KubeletInput& input);

// Returns the settings that the operator ran with.  The FeatureGate must list its release.
Result<generated::KubeletSettings> SettingsOf(const KubeletInput& input);

}  // namespace pintle::vectors
