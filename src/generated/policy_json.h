// SPDX-License-Identifier: Apache-2.0
#pragma once

// Makes /etc/containers/policy.json, by which container tools decide whether they may use an image.  For the pods of a
// namespace that has a policy of its own, CRI-O uses that policy instead.

#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "generated/signature_requirements.h"

namespace pintle::generated {

struct PolicyScopes {
  std::span<const std::string> allowed;
  std::span<const std::string> blocked;
  // The repository of the cluster's release.  It may be allowed while other registries are blocked.
  std::string_view payload;
};

// Makes the policy of the whole cluster.  If there is nothing to change, returns the template byte for byte.
Result<std::string> PolicyJson(std::string_view template_text, const PolicyScopes& scopes,
                               const ScopeRequirements& of_cluster);

// Makes the policy of one namespace, based on the policy of the cluster.
Result<std::string> NamespacePolicyJson(std::string_view cluster_policy, const PolicyScopes& scopes,
                                        const ScopeRequirements& of_namespace);

}  // namespace pintle::generated
