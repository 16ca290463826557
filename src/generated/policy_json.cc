// SPDX-License-Identifier: Apache-2.0
#include "generated/policy_json.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstddef>
#include <map>
#include <utility>

#include "generated/invalid.h"
#include "generated/scopes.h"
#include "json/fields.h"
#include "json/go_text.h"
#include "json/parse.h"
#include "json/report.h"

namespace pintle::generated {
namespace {

// The transports of a policy.json for which Pintle writes requirements.
constexpr std::string_view kDocker = "docker";
constexpr std::string_view kAtomic = "atomic";

struct Policy {
  Requirements by_default;
  std::map<std::string, ScopeRequirements> transports;

  static constexpr auto kFields = json::FieldList{
      json::Required{"default", &Policy::by_default},
      json::Field{"transports", &Policy::transports},
  };
};

// An unknown requirement is an error: leaving it out would allow more than the policy does.
Result<Policy> ReadPolicy(std::string_view text) {
  json::Report report;
  json::Value document = TRY(json::Parse(text), "error decoding policy json");
  auto policy = json::Decode<Policy>(std::move(document), report);
  if (report.problems().empty()) return policy;
  return Invalid(fmt::format("error decoding policy json: {}", report.problems()[0].ToString()));
}

std::string PolicyText(const Policy& policy) {
  constexpr std::size_t kIndentation = 2;
  return json::Indented(json::GoText(policy), kIndentation);
}

Requirements SingleRequirement(std::string_view type) {
  Requirement requirement;
  requirement.type = type;
  return {requirement};
}

Requirements AcceptAnything() { return SingleRequirement("insecureAcceptAnything"); }
Requirements RejectEverything() { return SingleRequirement("reject"); }

// Returns whether the transport "atomic" accepts the scope: it may have at most three parts with slashes between them.
bool IsForAtomic(const std::string& scope) {
  constexpr std::ptrdiff_t kTooManySlashes = 3;
  return std::count(scope.begin(), scope.end(), '/') < kTooManySlashes;
}

// Returns an error if a requirement is for a scope that the cluster does not allow or that it blocks.  As in the
// operator, a scope that is not allowed is reported before a scope that is blocked.
Result<> CheckNesting(std::string_view kind, const ScopeRequirements& requirements, const PolicyScopes& scopes) {
  const auto wrong = [&](std::string_view scope, std::string_view how) {
    return Invalid(fmt::format("{} configured for the scope {} is {}", kind, scope, how));
  };
  for (const auto& [scope, required] : requirements) {
    if (!scopes.allowed.empty() && !IsInsideOneOf(scope, scopes.allowed)) {
      return wrong(scope, "not nested inside allowedRegistries");
    }
  }
  for (const auto& [scope, required] : requirements) {
    if (IsInsideOneOf(scope, scopes.blocked)) return wrong(scope, "nested inside blockedRegistries");
  }
  return {};
}

bool IsOnlyPayload(const PolicyScopes& scopes) {
  return scopes.allowed.size() == 1 && scopes.allowed[0] == scopes.payload;
}

}  // namespace

Result<std::string> PolicyJson(std::string_view template_text, const PolicyScopes& scopes,
                               const ScopeRequirements& of_cluster) {
  if (!scopes.allowed.empty() && !scopes.blocked.empty() && !IsOnlyPayload(scopes)) {
    return Invalid("invalid images config: only one of AllowedRegistries or BlockedRegistries may be specified");
  }
  TRY(CheckNesting("clusterimagePolicy", of_cluster, scopes));
  if (scopes.allowed.empty() && scopes.blocked.empty() && of_cluster.empty()) return std::string(template_text);
  TRY(CheckScopes("blocked", scopes.blocked));
  TRY(CheckScopes("allowed", scopes.allowed));

  Policy policy = TRY(ReadPolicy(template_text));
  ScopeRequirements docker;
  for (const std::string& scope : scopes.allowed) docker[scope] = AcceptAnything();
  for (const std::string& scope : scopes.blocked) docker[scope] = RejectEverything();
  for (const auto& [scope, requirements] : of_cluster) docker[scope] = requirements;
  if (!scopes.blocked.empty()) {
    policy.by_default = AcceptAnything();
  } else if (!scopes.allowed.empty()) {
    policy.by_default = RejectEverything();
  }
  ScopeRequirements& atomic = policy.transports[std::string(kAtomic)];
  atomic.clear();
  for (const auto& [scope, requirements] : docker) {
    if (IsForAtomic(scope)) atomic[scope] = requirements;
  }
  policy.transports[std::string(kDocker)] = std::move(docker);
  return PolicyText(policy);
}

Result<std::string> NamespacePolicyJson(std::string_view cluster_policy, const PolicyScopes& scopes,
                                        const ScopeRequirements& of_namespace) {
  TRY(CheckNesting("imagePolicy", of_namespace, scopes));
  Policy policy = TRY(ReadPolicy(cluster_policy));
  ScopeRequirements& docker = policy.transports[std::string(kDocker)];
  ScopeRequirements& atomic = policy.transports[std::string(kAtomic)];
  for (const auto& [scope, requirements] : of_namespace) {
    const auto append = [&, &added = requirements](Requirements& to) {
      to.insert(to.end(), added.begin(), added.end());
    };
    append(docker[scope]);
    if (IsForAtomic(scope)) append(atomic[scope]);
  }
  return PolicyText(policy);
}

}  // namespace pintle::generated
