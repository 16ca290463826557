// SPDX-License-Identifier: Apache-2.0
#pragma once

// What the configs of kubelets are made from, in a case.

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

// Of each kind that `documents` has, those of `base` are left aside.  The templates are for the caller to set.
KubeletInput ReadKubeletInput(const std::vector<json::Value>& base, const std::vector<json::Value>& documents);

generated::TemplatesFor TemplatesOf(const KubeletInput& input);

// Those that the runs of the operator had; the FeatureGate has to speak of its release.
Result<generated::KubeletSettings> SettingsOf(const KubeletInput& input);

}  // namespace pintle::vectors
