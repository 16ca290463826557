// SPDX-License-Identifier: Apache-2.0
#include "generated/sigstore_registries.h"

#include <fmt/core.h>

#include <algorithm>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "generated/scopes.h"
#include "json/value.h"
#include "machineconfig/go_yaml.h"

namespace pintle::generated {
namespace {

// The next constants complete a scope to the name of an image in the scope.  This name is needed because container
// tools look up sources for an image, not for a scope.
constexpr std::string_view kAnyHost = "matched";
constexpr std::string_view kAnyPath = "/a";
constexpr std::string_view kAnyTag = ":aaa";
constexpr std::string_view kAnyDigest = "@sha256:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa";

// Adds the places from which container tools pull images of the scope.  `entry` is the entry of registries.conf that
// the tools use for the scope.
Result<> AddSources(const std::string& scope, const Registry& entry, std::set<std::string>& scopes) {
  std::string repository = IsWildcard(scope) ? std::string(kAnyHost) + scope.substr(1) : scope;
  const bool is_host = repository.find('/') == std::string::npos;
  if (is_host) repository += kAnyPath;
  // If the scope is a single image, its tag or digest is cut off.
  repository.resize(std::min(repository.find_first_of(":@", repository.rfind('/')), repository.size()));
  for (const std::string_view ending : {kAnyDigest, kAnyTag}) {
    const std::vector<PullSource> sources =
        TRY(PullSources(entry, repository + std::string(ending)),
            fmt::format("error getting {} sources for scope {}", ending == kAnyTag ? "tag" : "digest", repository));
    for (const PullSource& source : sources) {
      // A wildcard has no location of its own.
      if (source.endpoint->location.empty()) continue;
      std::string_view place = source.repository;
      if (is_host && place.ends_with(kAnyPath)) place.remove_suffix(kAnyPath.size());
      scopes.emplace(place);
    }
  }
  return {};
}

// Adds the places of the scope, if registries.conf has an entry for it.
Result<> AddEntryOf(const std::string& scope, const RegistriesConf& conf, std::set<std::string>& scopes) {
  const Registry* const entry = FindRegistry(conf, scope);
  return entry == nullptr ? Result<>() : AddSources(scope, *entry, scopes);
}

// Adds the scope of a policy, and all places from which container tools pull its images.  These include the places of
// entries for a part of the scope, which may have mirrors of their own.
Result<> AddWithSources(const std::string& scope, const RegistriesConf& conf, std::set<std::string>& scopes) {
  scopes.insert(scope);
  TRY(AddEntryOf(scope, conf, scopes));
  for (const Registry& registry : conf.registries) {
    const std::string& inner = registry.scope();
    if (inner != scope && IsInside(inner, scope)) TRY(AddEntryOf(inner, conf, scopes));
  }
  return {};
}

}  // namespace

Result<std::string> SigstoreRegistries(const PolicyRequirements& requirements, const RegistriesConf& conf) {
  if (requirements.is_empty()) return std::string();
  TRY(CheckAcceptedByTools(conf));
  std::set<std::string> scopes;
  const auto add = [&](const ScopeRequirements& of_scopes) -> Result<> {
    for (const auto& [scope, required] : of_scopes) {
      TRY(AddWithSources(scope, conf, scopes),
          fmt::format("error adding clusterimagepolicy scope {} relevant mirrors", scope));
    }
    return {};
  };
  TRY(add(requirements.of_cluster));
  for (const auto& [name, of_namespace] : requirements.of_namespaces) TRY(add(of_namespace));
  json::Value docker = json::Value::object();
  for (const std::string& scope : scopes) docker[scope] = {{"use-sigstore-attachments", true}};
  json::Value document = json::Value::object();
  document["docker"] = std::move(docker);
  std::string text;
  TRY(machineconfig::WriteGoYamlDocument(document, [&](std::string_view piece) { text += piece; }));
  return text;
}

}  // namespace pintle::generated
