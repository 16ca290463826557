// SPDX-License-Identifier: Apache-2.0
#pragma once

// The parts of the Machine Config Operator's controller, as its metrics name them.

#include <string_view>

#include "generated/made_from.h"

namespace pintle::controller {

using generated::MadeFrom;

inline constexpr std::string_view kRenderPart = "machine-config-controller-render";
inline constexpr std::string_view kNodePart = "machine-config-controller-node";
inline constexpr std::string_view kDrainPart = "machine-config-controller-drain";
// These parts generate configs.
inline constexpr std::string_view kTemplatePart = "machine-config-controller-template";
inline constexpr std::string_view kKubeletPart = "machine-config-controller-kubelet-config";
inline constexpr std::string_view kRuntimePart = "machine-config-controller-container-runtime-config";

// The part that generates a config, and its action, as metrics name them.
struct PartLabels {
  std::string_view part;
  std::string_view action;
};

constexpr PartLabels LabelsOf(MadeFrom made_from) {
  switch (made_from) {
    case MadeFrom::kTemplates:
      return {kTemplatePart, "Sync Controller Config"};
    case MadeFrom::kKubeletConfigs:
      return {kKubeletPart, "Sync Kubelet Config"};
    case MadeFrom::kFeatureGate:
      return {kKubeletPart, "Sync FeatureSet"};
    case MadeFrom::kNodeSettings:
      return {kKubeletPart, "Sync NodeConfig"};
    case MadeFrom::kRuntimeConfigs:
      return {kRuntimePart, "Sync Container Runtime Config"};
    case MadeFrom::kImages:
      return {kRuntimePart, "Sync Image Config"};
    case MadeFrom::kCredentialProviders:
      return {kRuntimePart, "Sync Credential Provider Config"};
  }
  return {};
}

}  // namespace pintle::controller
