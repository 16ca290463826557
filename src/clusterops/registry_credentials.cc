// SPDX-License-Identifier: Apache-2.0
#include "clusterops/registry_credentials.h"

#include <fmt/core.h>

#include <utility>

#include "base/base64.h"
#include "json/parse.h"

namespace pintle::clusterops {
namespace {

// The keys of the two formats of Secrets with credentials.  Only under kDockerConfigJsonKey, the credentials are in an
// object `auths`.
constexpr const char* kDockerCfgKey = ".dockercfg";
constexpr const char* kDockerConfigJsonKey = ".dockerconfigjson";
constexpr const char* kPullSecretName = "openshift-config/pull-secret";
constexpr std::string_view kClusterRegistry = "image-registry.openshift-image-registry.svc:5000";
// The host of the route to the registry is this text followed by the cluster's domain.
constexpr std::string_view kRouteBeforeDomain = "default-route-openshift-image-registry.apps.";

Error WrongSecret(std::string_view name, std::string_view fault) {
  return Error(ErrorKind::kInvalid, fmt::format("the Secret {}: {}", name, fault));
}

// Returns the credentials in a Secret by registry, as an object.
Result<json::Value> CredentialsIn(const api::Secret& secret, std::string_view name) {
  auto found = secret.data.find(kDockerCfgKey);
  const bool has_auths = found == secret.data.end();
  if (has_auths) found = secret.data.find(kDockerConfigJsonKey);
  if (found == secret.data.end()) {
    return WrongSecret(name, fmt::format("it has neither {} nor {}", kDockerCfgKey, kDockerConfigJsonKey));
  }
  const auto text = DecodeBase64(found->second);
  if (!text) return WrongSecret(name, fmt::format("{} is not base64", found->first));
  json::Value credentials = TRY(json::Parse(*text), fmt::format("the Secret {}: {}", name, found->first));
  if (!credentials.is_object()) return WrongSecret(name, fmt::format("{} is not an object", found->first));
  if (!has_auths) return credentials;
  json::Value auths = std::as_const(credentials)["auths"];
  if (auths.is_null()) return json::Value::object();
  if (!auths.is_object()) return WrongSecret(name, fmt::format("auths in {} is not an object", found->first));
  return auths;
}

void AddCredentials(json::Value from, json::Value& to) {
  for (auto& [registry, credentials] : from.members()) to[registry] = std::move(credentials);
}

}  // namespace

Result<std::string> MergedRegistryCredentials(const RegistryCredentialInputs& inputs, std::string_view base_domain) {
  if (!inputs.why_unreadable.empty()) return Error(ErrorKind::kInvalid, inputs.why_unreadable);
  if (!inputs.has_account) {
    return Error(ErrorKind::kNotFound, fmt::format("there is no ServiceAccount {}", kPullingAccount));
  }
  if (!inputs.pull_secret) return Error(ErrorKind::kNotFound, fmt::format("there is no Secret {}", kPullSecretName));
  json::Value auths = json::Value::object();
  for (const NamedSecret& named : inputs.account_secrets) {
    if (!named.secret) {
      return Error(ErrorKind::kNotFound, fmt::format("there is no Secret {}, which the ServiceAccount {} names",
                                                     named.name, kPullingAccount));
    }
    AddCredentials(TRY(CredentialsIn(*named.secret, named.name)), auths);
  }
  AddCredentials(TRY(CredentialsIn(*inputs.pull_secret, kPullSecretName)), auths);
  if (auths.empty()) return std::string();

  const std::string route = fmt::format("{}{}", kRouteBeforeDomain, base_domain);
  if (auths.contains(kClusterRegistry) && !base_domain.empty() && !auths.contains(route)) {
    json::Value credentials = auths.at(kClusterRegistry);
    auths[route] = std::move(credentials);
  }
  json::Value merged;
  merged["auths"] = std::move(auths);
  return json::ToText(merged);
}

}  // namespace pintle::clusterops
