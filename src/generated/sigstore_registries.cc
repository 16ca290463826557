// SPDX-License-Identifier: Apache-2.0
#include "generated/sigstore_registries.h"

#include <set>
#include <string_view>

#include "generated/scopes.h"
#include "json/value.h"
#include "machineconfig/go_yaml.h"

namespace pintle::generated {
namespace {

// Returns the entry that the container tools use for the images of a scope, or nullptr if there is none.
const Registry* MostSpecificEntry(const RegistriesConf& conf, const std::string& scope) {
  const Registry* entry = nullptr;
  for (const Registry& registry : conf.registries) {
    if (!IsInside(scope, registry.scope())) continue;
    if (entry == nullptr || IsInside(registry.scope(), entry->scope())) entry = &registry;
  }
  return entry;
}

void AddWithMirrors(const std::string& scope, const RegistriesConf& conf, std::set<std::string>& scopes) {
  scopes.insert(scope);
  if (const Registry* entry = MostSpecificEntry(conf, scope)) {
    for (const RegistryEndpoint& mirror : entry->mirrors) {
      // A wildcard inside a wildcard has the mirrors of the outer one.
      scopes.insert(IsWildcard(scope) ? mirror.location : InMirror(mirror.location, entry->scope(), scope));
    }
  }
  for (const Registry& registry : conf.registries) {
    if (!IsInside(registry.scope(), scope)) continue;
    for (const RegistryEndpoint& mirror : registry.mirrors) scopes.insert(mirror.location);
  }
}

}  // namespace

Result<std::string> SigstoreRegistries(const PolicyRequirements& requirements, const RegistriesConf& conf) {
  std::set<std::string> scopes;
  for (const auto& [scope, required] : requirements.of_cluster) AddWithMirrors(scope, conf, scopes);
  for (const auto& [name, of_namespace] : requirements.of_namespaces) {
    for (const auto& [scope, required] : of_namespace) AddWithMirrors(scope, conf, scopes);
  }
  if (scopes.empty()) return std::string();
  json::Value docker = json::Value::object();
  for (const std::string& scope : scopes) docker[scope] = {{"use-sigstore-attachments", true}};
  json::Value document = json::Value::object();
  document["docker"] = std::move(docker);
  std::string text;
  TRY(machineconfig::WriteGoYamlDocument(document, [&](std::string_view piece) { text += piece; }));
  return text;
}

}  // namespace pintle::generated
