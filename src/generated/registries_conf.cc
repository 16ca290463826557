// SPDX-License-Identifier: Apache-2.0
#include "generated/registries_conf.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstddef>
#include <utility>

#include "generated/scopes.h"
#include "generated/toml_members.h"
#include "gotext/quote.h"
#include "machineconfig/toml.h"
#include "toml/writer.h"

namespace pintle::generated {
namespace {

Result<RegistryEndpoint> ReadEndpoint(const json::Value& table) {
  RegistryEndpoint endpoint;
  TRY(TakeToml(table, "location", endpoint.location));
  TRY(TakeToml(table, "insecure", endpoint.insecure));
  TRY(TakeToml(table, "pull-from-mirror", endpoint.pull_from_mirror));
  return endpoint;
}

Result<Registry> ReadRegistry(const json::Value& table) {
  Registry registry;
  registry.endpoint = TRY(ReadEndpoint(table));
  TRY(TakeToml(table, "prefix", registry.prefix));
  TRY(TakeToml(table, "blocked", registry.blocked));
  TRY(TakeToml(table, "mirror-by-digest-only", registry.mirror_by_digest_only));
  for (const json::Value* mirror : TRY(TablesIn(table, "mirror"))) {
    registry.mirrors.push_back(TRY(ReadEndpoint(*mirror)));
  }
  return registry;
}

void AddEndpoint(toml::Table& table, const RegistryEndpoint& endpoint) {
  if (!endpoint.location.empty()) table.Add("location", endpoint.location);
  if (endpoint.insecure) table.Add("insecure", true);
  if (!endpoint.pull_from_mirror.empty()) table.Add("pull-from-mirror", endpoint.pull_from_mirror);
}

toml::Table ToTable(const Registry& registry) {
  toml::Table table;
  table.Add("prefix", registry.prefix);
  AddEndpoint(table, registry.endpoint);
  if (registry.blocked) table.Add("blocked", true);
  if (registry.mirror_by_digest_only) table.Add("mirror-by-digest-only", true);
  toml::Tables mirrors;
  for (const RegistryEndpoint& mirror : registry.mirrors) {
    toml::Table& made = mirrors.emplace_back();
    AddEndpoint(made, mirror);
  }
  return std::move(table.Add("mirror", std::move(mirrors)));
}

// Returns the entry of a scope, and adds it if there is none.  The reference is valid until the next entry is added.
Registry& EntryFor(RegistriesConf& conf, const std::string& scope) {
  auto& all = conf.registries;
  const auto entry =
      std::find_if(all.begin(), all.end(), [&](const Registry& registry) { return registry.scope() == scope; });
  if (entry != all.end()) return *entry;
  Registry made;
  (IsWildcard(scope) ? made.prefix : made.endpoint.location) = scope;
  return all.emplace_back(std::move(made));
}

void AddMirrors(RegistriesConf& conf, const std::vector<MergedMirrors>& all, std::string_view pull_from_mirror) {
  for (const MergedMirrors& merged : all) {
    Registry& registry = EntryFor(conf, merged.source);
    if (merged.never_contact_source) registry.blocked = true;
    for (const std::string& mirror : merged.mirrors) {
      RegistryEndpoint& endpoint = registry.mirrors.emplace_back();
      endpoint.location = mirror;
      endpoint.pull_from_mirror = pull_from_mirror;
    }
  }
}

void MarkInsecure(RegistriesConf& conf, const std::string& scope) {
  EntryFor(conf, scope);
  for (Registry& registry : conf.registries) {
    if (IsInside(registry.scope(), scope)) registry.endpoint.insecure = true;
    for (RegistryEndpoint& mirror : registry.mirrors) {
      if (IsInside(mirror.location, scope)) mirror.insecure = true;
    }
  }
}

void MarkBlocked(RegistriesConf& conf, const std::string& scope) {
  EntryFor(conf, scope);
  for (Registry& registry : conf.registries) {
    if (IsInside(registry.scope(), scope)) registry.blocked = true;
  }
}

// Container tools use only the most specific entry, so an entry inside a mirrored source needs the mirrors, too.
Result<> InheritMirrors(RegistriesConf& conf, const std::string& source) {
  const Registry mirrored = EntryFor(conf, source);
  for (Registry& registry : conf.registries) {
    const std::string& scope = registry.scope();
    if (scope == source || !IsInside(scope, source) || !registry.mirrors.empty()) continue;
    if (IsWildcard(source)) {
      return Error(
          ErrorKind::kInvalid,
          fmt::format("internal error: mirrorsAdjustedForNestedScope for a wildcard scope {}", gotext::Quoted(source)));
    }
    registry.mirror_by_digest_only = mirrored.mirror_by_digest_only;
    for (RegistryEndpoint mirror : mirrored.mirrors) {
      mirror.location = InMirror(mirror.location, source, scope);
      registry.mirrors.push_back(std::move(mirror));
    }
  }
  return {};
}

}  // namespace

Result<RegistriesConf> ReadRegistriesConf(std::string_view text) {
  const json::Value document = TRY(machineconfig::ParseToml(text));
  RegistriesConf conf;
  TRY(TakeToml(document, "unqualified-search-registries", conf.unqualified_search_registries));
  TRY(TakeToml(document, "credential-helpers", conf.credential_helpers));
  TRY(TakeToml(document, "short-name-mode", conf.short_name_mode));
  TRY(TakeToml(document, "additional-layer-store-auth-helper", conf.additional_layer_store_auth_helper));
  TRY(TakeToml(document, "aliases", conf.aliases));
  for (const json::Value* registry : TRY(TablesIn(document, "registry"))) {
    conf.registries.push_back(TRY(ReadRegistry(*registry)));
  }
  return conf;
}

std::string Write(const RegistriesConf& conf) {
  toml::Table document;
  if (conf.unqualified_search_registries) {
    document.Add("unqualified-search-registries", *conf.unqualified_search_registries);
  }
  if (conf.credential_helpers) document.Add("credential-helpers", *conf.credential_helpers);
  document.Add("short-name-mode", conf.short_name_mode);
  document.Add("additional-layer-store-auth-helper", conf.additional_layer_store_auth_helper);
  toml::Tables registries;
  for (const Registry& registry : conf.registries) registries.push_back(ToTable(registry));
  document.Add("registry", std::move(registries));
  if (!conf.aliases.empty()) {
    toml::Table aliases;
    for (const auto& [name, image] : conf.aliases) aliases.Add(name, image);
    document.Add("aliases", std::move(aliases));
  }
  return toml::Write(document);
}

Result<> Edit(RegistriesConf& conf, const RegistryScopes& scopes, const MirrorObjects& mirrors) {
  const auto digest_mirrors = MergedDigestMirrors(mirrors);
  const auto tag_mirrors = MergedTagMirrors(mirrors);
  AddMirrors(conf, digest_mirrors, "digest-only");
  AddMirrors(conf, tag_mirrors, "tag-only");
  // The entries of blocked scopes must exist before MarkInsecure(), which marks only existing entries inside its scope.
  for (const std::string& scope : scopes.blocked) EntryFor(conf, scope);
  for (const std::string& scope : scopes.insecure) MarkInsecure(conf, scope);
  for (const std::string& scope : scopes.blocked) MarkBlocked(conf, scope);
  for (const auto* all : {&digest_mirrors, &tag_mirrors}) {
    for (const MergedMirrors& merged : *all) TRY(InheritMirrors(conf, merged.source));
  }
  return {};
}

}  // namespace pintle::generated
