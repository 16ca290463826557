// SPDX-License-Identifier: Apache-2.0
#include "controller/watched.h"

#include <algorithm>

#include "base/memory.h"
#include "clusterops/server_certificates.h"

namespace pintle::controller {

void Trim(WatchedNode& node) {
  std::erase_if(node.metadata.annotations, [](const auto& annotation) {
    return std::none_of(kOurPrefixes.begin(), kOurPrefixes.end(),
                        [&](std::string_view prefix) { return annotation.first.starts_with(prefix); });
  });
  node.metadata.owner_references = {};
  node.metadata.finalizers = {};
}

bool IsRenderedAndUnlabelled(const api::MachineConfig& config) {
  const auto& owners = config.metadata.owner_references;
  return config.metadata.labels.empty() && config.metadata.name.starts_with("rendered-") && !owners.empty() &&
         owners.front().kind == "MachineConfigPool";
}

void Trim(WatchedMachineConfig& config) {
  if (IsRenderedAndUnlabelled(config)) config.spec.config = json::Value();
}

void Trim(WatchedMachineConfigNode& node) {
  std::erase_if(node.status.conditions, [](const api::Condition& condition) {
    return std::find(kReportedConditions.begin(), kReportedConditions.end(), condition.type) ==
           kReportedConditions.end();
  });
  node.status.conditions.shrink_to_fit();
}

void Trim(WatchedCertificate& secret) {
  const auto key = secret.data.find(clusterops::kPrivateKeyKey);
  if (key == secret.data.end() || key->second.empty()) return;
  Wipe(key->second);
  key->second = clusterops::kKeyLeftOut;
}

}  // namespace pintle::controller
