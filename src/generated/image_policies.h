// SPDX-License-Identifier: Apache-2.0
#pragma once

// ClusterImagePolicies and ImagePolicies together: what is required of which images, in the whole cluster and in each
// namespace.

#include <map>
#include <span>
#include <string>
#include <vector>

#include "api/image_policy.h"
#include "base/clock.h"
#include "base/result.h"
#include "generated/signature_requirements.h"

namespace pintle::generated {

// Scopes of an ImagePolicy that do not count, since a ClusterImagePolicy has them or what is around them.
struct PolicyConflict {
  const api::ImagePolicy* policy;
  std::vector<std::string> scopes;
};

struct PolicyRequirements {
  ScopeRequirements of_cluster;
  std::map<std::string, ScopeRequirements> of_namespaces;
  std::vector<PolicyConflict> conflicts;

  bool is_empty() const { return of_cluster.empty() && of_namespaces.empty(); }
};

// Policies for one scope add up, in the order in which they are given.
Result<PolicyRequirements> RequirementsOf(std::span<const api::ImagePolicy> cluster_policies,
                                          std::span<const api::ImagePolicy> namespace_policies);

// The conditions of a policy with such a conflict.  They are as they were if that was said before: whoever writes them
// only when they differ has nothing to write then.
std::vector<api::Condition> ConditionsOf(const PolicyConflict& conflict, WallTime now);

// Those of a policy that has no conflict: one that was said before is gone.
std::vector<api::Condition> ConditionsWithoutConflict(const api::ImagePolicy& policy);

}  // namespace pintle::generated
