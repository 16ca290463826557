// SPDX-License-Identifier: Apache-2.0
#pragma once

// Collects the signature requirements of ClusterImagePolicies and ImagePolicies, for the whole cluster and for each
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

// Scopes of an ImagePolicy that have no effect, because a ClusterImagePolicy covers them.
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

// Collects the requirements.  If several policies have the same scope, all their requirements apply, in the order of
// the policies.
Result<PolicyRequirements> RequirementsOf(std::span<const api::ImagePolicy> cluster_policies,
                                          std::span<const api::ImagePolicy> namespace_policies);

// Returns the conditions that a policy with a conflict is to have.  They are the conditions that the policy has already
// if these report the same conflict for the same generation of the policy.
std::vector<api::ConditionWithGeneration> ConditionsOf(const PolicyConflict& conflict, WallTime now);

// Returns the conditions of a policy that has no conflict any more.
std::vector<api::ConditionWithGeneration> ConditionsWithoutConflict(const api::ImagePolicy& policy);

}  // namespace pintle::generated
