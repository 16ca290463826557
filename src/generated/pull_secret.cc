// SPDX-License-Identifier: Apache-2.0
#include "generated/pull_secret.h"

#include <fmt/core.h>

#include <optional>
#include <utility>

#include "base/base64.h"
#include "generated/invalid.h"
#include "json/go_json.h"
#include "json/parse.h"

namespace pintle::generated {
namespace {

constexpr const char* kSecretType = "kubernetes.io/dockerconfigjson";
constexpr const char* kSecretKey = ".dockerconfigjson";
constexpr const char* kPasswordKey = "password";
constexpr const char* kRegistryUser = "openshift";
constexpr int kRegistryPort = 22625;  // Both addresses of the release registry have this port.

// Returns the decoded value of a key.  `value_name` names the value in an error.
Result<std::string> ValueIn(const api::Secret& secret, const char* key, std::string_view value_name) {
  const auto found = secret.data.find(key);
  auto text = found == secret.data.end() ? std::nullopt : DecodeBase64(found->second);
  if (text) return *std::move(text);
  return Invalid(
      fmt::format("the secret {} has no valid {}; set it to the {} in base64", secret.metadata.name, key, value_name));
}

Result<std::string> AddCredentialsOfRegistry(std::string pull_secret, const api::Secret* registry,
                                             std::string_view base_domain) {
  if (registry == nullptr) {
    return Invalid(
        fmt::format("there is no Secret {} with the password of the registry; add it", kReleaseRegistrySecret));
  }
  if (base_domain.empty()) return Invalid("the ControllerConfig has no spec.dns.spec.baseDomain; set it");
  const std::string password = TRY(ValueIn(*registry, kPasswordKey, "password"));
  if (password.empty()) {
    return Invalid(fmt::format("the secret {} has an empty {}; set it to the password of the registry in base64",
                               registry->metadata.name, kPasswordKey));
  }
  json::Value credentials = TRY(json::Parse(pull_secret));
  const json::Value* const known = credentials.Find("auths");
  if (!credentials.is_object() || (known != nullptr && !known->is_null() && !known->is_object())) {
    return Invalid("the pull secret or its member auths is not a JSON object; correct the pull secret");
  }
  const std::string auth = EncodeBase64(fmt::format("{}:{}", kRegistryUser, password));
  bool is_current = true;
  for (const std::string& host :
       {fmt::format("api-int.{}:{}", base_domain, kRegistryPort), fmt::format("localhost:{}", kRegistryPort)}) {
    if (credentials.TextAt({"auths", host, "auth"}) == auth) continue;
    credentials["auths"][host] = {{"auth", auth}};
    is_current = false;
  }
  return is_current ? std::move(pull_secret) : json::GoJson(credentials);
}

}  // namespace

Result<std::string> PullSecretIn(const api::Secret& secret) {
  if (secret.type != kSecretType) {
    return Invalid(fmt::format("expected secret type {} found {}", kSecretType, secret.type));
  }
  return ValueIn(secret, kSecretKey, "credentials");
}

Result<std::string> WithReleaseRegistry(std::string pull_secret, const api::Secret* registry,
                                        std::string_view base_domain) {
  return TRY(AddCredentialsOfRegistry(std::move(pull_secret), registry, base_domain),
             "could not merge IRI registry credentials into pull secret");
}

}  // namespace pintle::generated
