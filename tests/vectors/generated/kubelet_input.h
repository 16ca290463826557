// SPDX-License-Identifier: Apache-2.0
#pragma once

// What the configs of kubelets are made from, in a case.

#include <filesystem>
#include <optional>
#include <vector>

#include "api/feature_gate.h"
#include "api/kubelet_config.h"
#include "api/machine_config_pool.h"
#include "api/node_settings.h"
#include "api/tls_security_profile.h"
#include "generated/kubelet_bootstrap.h"
#include "json/parse.h"

namespace pintle::vectors {

struct KubeletInput {
  std::filesystem::path templates;
  json::Value controller_config;
  std::vector<api::MachineConfigPool> pools;
  std::vector<api::KubeletConfig> kubelet_configs;
  api::FeatureGate feature_gate;
  api::NodeSettings node;
  api::ApiServer api_server;
};

// Of each kind that `documents` has, those of `base` are left aside.
KubeletInput ReadKubeletInput(const std::vector<json::Value>& base, const std::vector<json::Value>& documents);

generated::TemplatesFor TemplatesOf(const KubeletInput& input);

// Those that the runs of the operator had; the FeatureGate has to speak of its release.
Result<generated::KubeletSettings> SettingsOf(const KubeletInput& input);

}  // namespace pintle::vectors
