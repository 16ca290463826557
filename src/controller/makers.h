// SPDX-License-Identifier: Apache-2.0
#pragma once

// The parts of the Machine Config Operator's controller that generate configs, in the words of its metrics.

#include <string_view>

namespace pintle::controller {

inline constexpr std::string_view kTemplatePart = "machine-config-controller-template";
inline constexpr std::string_view kKubeletPart = "machine-config-controller-kubelet-config";
inline constexpr std::string_view kRuntimePart = "machine-config-controller-container-runtime-config";

// What a config is generated from.
enum class Maker {
  kTemplates,
  kKubeletConfig,
  kFeatureGate,
  kNodeSettings,
  kContainerRuntimeConfig,
  kImage,
  kCredentialProviders
};

struct MakerWords {
  std::string_view part;
  std::string_view action;
};

constexpr MakerWords WordsOf(Maker maker) {
  switch (maker) {
    case Maker::kTemplates:
      return {kTemplatePart, "Sync Controller Config"};
    case Maker::kKubeletConfig:
      return {kKubeletPart, "Sync Kubelet Config"};
    case Maker::kFeatureGate:
      return {kKubeletPart, "Sync FeatureSet"};
    case Maker::kNodeSettings:
      return {kKubeletPart, "Sync NodeConfig"};
    case Maker::kContainerRuntimeConfig:
      return {kRuntimePart, "Sync Container Runtime Config"};
    case Maker::kImage:
      return {kRuntimePart, "Sync Image Config"};
    case Maker::kCredentialProviders:
      return {kRuntimePart, "Sync Credential Provider Config"};
  }
  return {};
}

}  // namespace pintle::controller
