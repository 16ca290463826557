// SPDX-License-Identifier: Apache-2.0
#pragma once

// /etc/containers/policy.json, by which container tools decide whether they may use an image, and the policies of
// single namespaces, which CRI-O takes instead of it.

#include <map>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "generated/signature_requirements.h"

namespace pintle::generated {

struct PolicyScopes {
  std::span<const std::string> allowed;
  std::span<const std::string> blocked;
  // The repository of the release that the cluster runs.  That it may be used goes together with what is blocked.
  std::string_view payload;
};

// The policy of the whole cluster.  It stays as the template has it, to the byte, if nothing is to be changed.
Result<std::string> PolicyJson(std::string_view from_template, const PolicyScopes& scopes,
                               const ScopeRequirements& of_cluster);

// The policy of one namespace, over that of the cluster.
Result<std::string> NamespacePolicyJson(std::string_view of_cluster, const PolicyScopes& scopes,
                                        const ScopeRequirements& of_namespace);

}  // namespace pintle::generated
