// SPDX-License-Identifier: Apache-2.0
#include "generated/image_policies.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "base/first_characters.h"
#include "generated/scopes.h"
#include "gotext/quote.h"

namespace pintle::generated {
namespace {

constexpr std::string_view kPending = "Pending";
constexpr std::string_view kConflict = "ConflictScopes";

bool IsConflict(const api::ConditionWithGeneration& condition) {
  return condition.type == kPending && condition.reason == kConflict;
}

// Writes a list as Go's %q does.
std::string QuotedList(const std::vector<std::string>& texts) {
  std::string quoted = "[";
  for (const std::string& text : texts) {
    if (quoted.size() > 1) quoted += ' ';
    quoted += gotext::Quoted(text);
  }
  return quoted + ']';
}

bool IsCoveredByCluster(const std::string& scope, const ScopeRequirements& of_cluster) {
  return std::any_of(of_cluster.begin(), of_cluster.end(),
                     [&](const auto& entry) { return IsInside(scope, entry.first); });
}

}  // namespace

Result<PolicyRequirements> RequirementsOf(std::span<const api::ImagePolicy> cluster_policies,
                                          std::span<const api::ImagePolicy> namespace_policies) {
  PolicyRequirements requirements;
  for (const api::ImagePolicy& policy : cluster_policies) {
    const Requirement requirement = TRY(RequirementOf(policy.spec.policy));
    for (const std::string& scope : policy.spec.scopes) requirements.of_cluster[scope].push_back(requirement);
  }
  for (const api::ImagePolicy& policy : namespace_policies) {
    const Requirement requirement = TRY(RequirementOf(policy.spec.policy));
    PolicyConflict conflict{&policy, {}};
    for (const std::string& scope : policy.spec.scopes) {
      if (IsCoveredByCluster(scope, requirements.of_cluster)) {
        conflict.scopes.push_back(scope);
      } else {
        requirements.of_namespaces[policy.metadata.namespace_name][scope].push_back(requirement);
      }
    }
    if (!conflict.scopes.empty()) requirements.conflicts.push_back(std::move(conflict));
  }
  return requirements;
}

std::vector<api::ConditionWithGeneration> ConditionsOf(const PolicyConflict& conflict, WallTime now) {
  api::ConditionWithGeneration condition;
  condition.type = kPending;
  condition.status = "False";
  condition.observed_generation = conflict.policy->metadata.generation;
  condition.last_transition_time = api::Time{now};
  condition.reason = kConflict;
  const std::string message = fmt::format(
      "has conflicting scope(s) {} that equal to or nest inside existing clusterimagepolicy, only policy from "
      "clusterimagepolicy scope(s) will be applied",
      QuotedList(conflict.scopes));
  condition.message = FirstCharacters(message, api::kLongestConditionMessage);
  std::vector<api::ConditionWithGeneration> conditions = conflict.policy->status.conditions;
  const auto same = std::find_if(conditions.begin(), conditions.end(), [&](const api::ConditionWithGeneration& before) {
    return before.type == condition.type;
  });
  if (same == conditions.end()) {
    conditions.push_back(std::move(condition));
  } else {
    const bool is_known = IsConflict(*same) && same->message == condition.message && same->status == condition.status;
    if (is_known) condition.last_transition_time = same->last_transition_time;
    *same = std::move(condition);
  }
  return conditions;
}

std::vector<api::ConditionWithGeneration> ConditionsWithoutConflict(const api::ImagePolicy& policy) {
  std::vector<api::ConditionWithGeneration> conditions = policy.status.conditions;
  conditions.erase(std::remove_if(conditions.begin(), conditions.end(), IsConflict), conditions.end());
  return conditions;
}

}  // namespace pintle::generated
