// SPDX-License-Identifier: Apache-2.0
#include "generated/kubelet_base.h"

#include <optional>
#include <string>

#include "generated/invalid.h"
#include "generated/read_back.h"

namespace pintle::generated {

Result<KubeletConfiguration> KubeletBase(std::span<const MachineConfig> templates, const FeatureGates& gates) {
  const std::optional<std::string> text = ContentsOfFile(templates, kKubeletConfPath);
  if (!text) {
    return Invalid("could not generate the original Kubelet config ignition: could not generate old kubelet config");
  }
  KubeletConfiguration config = TRY(ParseKubeletConf(*text), "could not deserialize the Kubelet source");
  for (const auto& [gate, is_on] : gates) config.feature_gates[gate] = is_on;
  return config;
}

}  // namespace pintle::generated
