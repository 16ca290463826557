// SPDX-License-Identifier: Apache-2.0
#include "generated/feature_gates.h"

#include <fmt/core.h>

#include <algorithm>

namespace pintle::generated {

Result<FeatureGates> FeatureGatesOf(const api::FeatureGate& object, std::string_view release) {
  const auto& releases = object.status.feature_gates;
  const auto details =
      std::find_if(releases.begin(), releases.end(), [&](const auto& known) { return known.version == release; });
  if (details == releases.end()) {
    return Error(ErrorKind::kInvalid, fmt::format("unable to determine features: missing desired version \"{}\" in "
                                                  "featuregates.config.openshift.io/{}",
                                                  release, object.metadata.name));
  }
  FeatureGates gates;
  for (const api::NameReference& gate : details->enabled) gates[gate.name] = true;
  for (const api::NameReference& gate : details->disabled) gates[gate.name] = false;
  return gates;
}

bool IsOpen(const FeatureGates& gates, std::string_view name) {
  const auto gate = gates.find(std::string(name));
  return gate != gates.end() && gate->second;
}

}  // namespace pintle::generated
