// SPDX-License-Identifier: Apache-2.0
#pragma once

// The kubelet's configuration that a pool has before users change it: the templates' kubelet.conf with the feature
// gates of the release.

#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "generated/feature_gates.h"
#include "generated/kubelet_configuration.h"
#include "generated/machine_config.h"

namespace pintle::generated {

inline constexpr std::string_view kKubeletConfPath = "/etc/kubernetes/kubelet.conf";

// The inputs that are the same for all pools.
struct KubeletSettings {
  FeatureGates feature_gates;
  std::string worker_latency_profile;
  std::string cgroup_mode;
  std::string controller_version;  // Identifies the build that makes the configs.
};

// The text that the operator puts before the error if the templates cannot be executed.
inline constexpr std::string_view kKubeletTemplatesFailed =
    "could not generate the original Kubelet config ignition: GenerateMachineConfigsforRole failed with error";

// Returns the configuration that a pool has before users change it.  `templates` are the configs that were made from
// the templates of the pool.
Result<KubeletConfiguration> KubeletBase(std::span<const MachineConfig> templates, const FeatureGates& gates);

}  // namespace pintle::generated
