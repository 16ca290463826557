// SPDX-License-Identifier: Apache-2.0
#pragma once

// The kubelet's configuration that a pool has before anyone says anything else: that of its templates, with the
// features of the release.

#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "generated/feature_gates.h"
#include "generated/kubelet_configuration.h"
#include "generated/machine_config.h"

namespace pintle::generated {

inline constexpr std::string_view kKubeletConfPath = "/etc/kubernetes/kubelet.conf";

// What all pools of a cluster have in common.
struct KubeletSettings {
  FeatureGates feature_gates;
  std::string worker_latency_profile;
  std::string cgroup_mode;
  std::string controller_version;  // The digest of the build that makes the configs.
};

// `templates` are the configs that were made from templates for this pool.
Result<KubeletConfiguration> KubeletBase(std::span<const MachineConfig> templates, const FeatureGates& gates);

}  // namespace pintle::generated
