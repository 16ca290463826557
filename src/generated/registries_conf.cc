// SPDX-License-Identifier: Apache-2.0
#include "generated/registries_conf.h"

#include <fmt/core.h>

#include <cstddef>
#include <functional>
#include <map>
#include <unordered_map>
#include <utility>

#include "generated/image_reference.h"
#include "generated/invalid.h"
#include "generated/scopes.h"
#include "generated/toml_members.h"
#include "gotext/quote.h"
#include "machineconfig/toml.h"
#include "toml/writer.h"

namespace pintle::generated {
namespace {

// Values of pull-from-mirror: the images for which a mirror is used.
constexpr std::string_view kDigestOnly = "digest-only";
constexpr std::string_view kTagOnly = "tag-only";

Result<RegistryEndpoint> ReadEndpoint(const json::Value& table) {
  RegistryEndpoint endpoint;
  TRY(ReadToml(table, "location", endpoint.location));
  TRY(ReadToml(table, "insecure", endpoint.insecure));
  TRY(ReadToml(table, "pull-from-mirror", endpoint.pull_from_mirror));
  return endpoint;
}

Result<Registry> ReadRegistry(const json::Value& table) {
  Registry registry;
  registry.endpoint = TRY(ReadEndpoint(table));
  TRY(ReadToml(table, "prefix", registry.prefix));
  TRY(ReadToml(table, "blocked", registry.blocked));
  TRY(ReadToml(table, "mirror-by-digest-only", registry.mirror_by_digest_only));
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

// The entries of a configuration, by their scopes.
class Entries {
 public:
  explicit Entries(RegistriesConf& conf) : all_(conf.registries) {
    for (std::size_t i = 0; i < all_.size(); ++i) numbers_.emplace(all_[i].scope(), i);
  }

  // Returns the first entry of a scope, and adds it if there is none.  The reference is valid until the next entry is
  // added.
  Registry& For(const std::string& scope) {
    const auto [number, is_new] = numbers_.emplace(scope, all_.size());
    if (!is_new) return all_[number->second];
    Registry made;
    (IsWildcard(scope) ? made.prefix : made.endpoint.location) = scope;
    return all_.emplace_back(std::move(made));
  }

  std::vector<Registry>& all() { return all_; }

 private:
  std::vector<Registry>& all_;
  std::unordered_map<std::string, std::size_t> numbers_;
};

void AddMirrors(Entries& entries, const std::vector<MergedMirrors>& all, std::string_view pull_from_mirror) {
  for (const MergedMirrors& merged : all) {
    Registry& registry = entries.For(merged.source);
    if (merged.never_contact_source) registry.blocked = true;
    for (const std::string& mirror : merged.mirrors) {
      RegistryEndpoint& endpoint = registry.mirrors.emplace_back();
      endpoint.location = mirror;
      endpoint.pull_from_mirror = pull_from_mirror;
    }
  }
}

void MarkInsecure(Entries& entries, const ScopeSet& scopes) {
  for (Registry& registry : entries.all()) {
    if (!scopes.Around(registry.scope()).empty()) registry.endpoint.insecure = true;
    for (RegistryEndpoint& mirror : registry.mirrors) {
      if (!scopes.Around(mirror.location).empty()) mirror.insecure = true;
    }
  }
}

void MarkBlocked(Entries& entries, const ScopeSet& scopes) {
  for (Registry& registry : entries.all()) {
    if (!scopes.Around(registry.scope()).empty()) registry.blocked = true;
  }
}

// A registries.conf with so many mirrors would be several times as large as a MachineConfig may be.
constexpr std::size_t kMostInheritedMirrors = 100'000;

Error TooManyMirrors(std::string_view source) {
  return Error(
      ErrorKind::kUnconvertible,
      fmt::format("the blocked and insecure registries inside of mirrored sources, such as {}, need more than {} "
                  "mirrors together; name fewer of these registries, or fewer mirrors",
                  gotext::Quoted(source), kMostInheritedMirrors));
}

// Container tools use only the most specific entry, so an entry inside a mirrored source needs the mirrors of that
// source.  `inherited` counts the mirrors that entries have got in this way.
Result<> InheritFrom(const Registry& mirrored, const std::string& source, Registry& registry, std::size_t& inherited) {
  if (!registry.mirrors.empty()) return {};
  if (IsWildcard(source)) {
    return Invalid(
        fmt::format("internal error: mirrorsAdjustedForNestedScope for a wildcard scope {}", gotext::Quoted(source)));
  }
  inherited += mirrored.mirrors.size();
  if (inherited > kMostInheritedMirrors) return TooManyMirrors(source);
  registry.mirror_by_digest_only = mirrored.mirror_by_digest_only;
  for (RegistryEndpoint mirror : mirrored.mirrors) {
    mirror.location = PlaceInMirror(mirror.location, source, registry.scope());
    registry.mirrors.push_back(std::move(mirror));
  }
  return {};
}

// Gives each entry without mirrors the mirrors of the first source around it.
Result<> InheritMirrors(Entries& entries, const std::vector<const MergedMirrors*>& sources) {
  ScopeSet scopes;
  for (const MergedMirrors* merged : sources) scopes.Add(merged->source);
  // The numbers of the entries inside of each source.
  std::map<std::string, std::vector<std::size_t>, std::less<>> inside;
  auto& all = entries.all();
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (!all[i].mirrors.empty()) continue;
    for (const std::string_view source : scopes.Around(all[i].scope())) {
      if (source != all[i].scope()) inside[std::string(source)].push_back(i);
    }
  }
  std::size_t inherited = 0;
  for (const MergedMirrors* merged : sources) {
    const auto numbers = inside.find(merged->source);
    if (numbers == inside.end()) continue;
    const Registry mirrored = entries.For(merged->source);
    for (const std::size_t number : numbers->second) {
      TRY(InheritFrom(mirrored, merged->source, all[number], inherited));
    }
  }
  return {};
}

bool HasScheme(std::string_view location) {
  return location.starts_with("http://") || location.starts_with("https://");
}

Result<> CheckLocation(const std::string& location) {
  if (!HasScheme(location)) return {};
  return Invalid(fmt::format("invalid location '{}': URI schemes are not supported", location));
}

Result<> CheckEntry(const Registry& registry) {
  TRY(CheckLocation(registry.endpoint.location));
  TRY(CheckLocation(registry.prefix));
  if (registry.scope().empty()) return Invalid("invalid condition: both location and prefix are unset");
  const bool is_wildcard = IsWildcard(registry.scope());
  if (registry.endpoint.location.empty() && !is_wildcard) {
    return Invalid("invalid condition: location is unset and prefix is not in the format: *.example.com");
  }
  if (is_wildcard && registry.scope().find_first_of("/@:") != std::string::npos) {
    return Invalid(
        fmt::format("Wildcarded prefix should be in the format: *.example.com. Current prefix {} is incorrectly "
                    "formatted",
                    gotext::Quoted(registry.scope())));
  }
  for (const RegistryEndpoint& mirror : registry.mirrors) {
    TRY(CheckLocation(mirror.location));
    if (mirror.location.empty()) return Invalid("invalid condition: mirror location is unset");
  }
  return {};
}

// Returns how many characters of a name the scope of an entry matches, or nullopt if the scope does not match the name.
// As in the container tools, "r.test" also matches "r.test:5000".
std::optional<std::size_t> MatchedLength(std::string_view name, std::string_view scope) {
  std::size_t length = scope.size();
  if (IsWildcard(scope)) {
    const std::string_view domain = scope.substr(1);
    const std::size_t at = name.find(domain);
    if (at == std::string_view::npos || name.substr(0, at).find('/') != std::string_view::npos) return std::nullopt;
    length = at + domain.size();
  } else if (!name.starts_with(scope)) {
    return std::nullopt;
  }
  const bool is_whole = length == name.size() || std::string_view(":/@").find(name[length]) != std::string_view::npos;
  return is_whole ? std::optional(length) : std::nullopt;
}

// Returns whether container tools prefer an entry to another entry that matches the same name.  The longer scope wins.
// The tools sort the entries, so of two scopes with the same length the first in byte order wins.
bool IsPreferred(const Registry& registry, const Registry& other) {
  const std::string& scope = registry.scope();
  const std::string& other_scope = other.scope();
  return scope.size() != other_scope.size() ? scope.size() > other_scope.size() : scope < other_scope;
}

// Returns whether container tools use the mirror for an image.  `has_digest` is true if the image is named by digest,
// and false if it is named by tag.
bool IsUsed(const RegistryEndpoint& mirror, const Registry& entry, bool has_digest) {
  if (entry.mirror_by_digest_only) return has_digest;
  return mirror.pull_from_mirror != (has_digest ? kTagOnly : kDigestOnly);
}

// Returns the repository from which container tools pull an image by this endpoint of the entry.
Result<std::string> RepositoryAt(const RegistryEndpoint& endpoint, const Registry& entry, std::string_view image) {
  const auto length = MatchedLength(image, entry.scope());
  if (!length) return Invalid(fmt::format("invalid prefix '{}' for reference '{}'", entry.scope(), image));
  // The entry of a wildcard has no location, and stands for the registry in the name of the image.
  if (endpoint.location.empty()) return RepositoryOf(image);
  return TRY(RepositoryOf(endpoint.location + std::string(image.substr(*length))), "rewriting reference");
}

}  // namespace

Result<RegistriesConf> ReadRegistriesConf(std::string_view text) {
  const json::Value document = TRY(machineconfig::ParseToml(text));
  RegistriesConf conf;
  TRY(ReadToml(document, "unqualified-search-registries", conf.unqualified_search_registries));
  TRY(ReadToml(document, "credential-helpers", conf.credential_helpers));
  TRY(ReadToml(document, "short-name-mode", conf.short_name_mode));
  TRY(ReadToml(document, "additional-layer-store-auth-helper", conf.additional_layer_store_auth_helper));
  TRY(ReadToml(document, "aliases", conf.aliases));
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
  Entries entries(conf);
  AddMirrors(entries, digest_mirrors, kDigestOnly);
  AddMirrors(entries, tag_mirrors, kTagOnly);
  for (const auto* scopes_of_kind : {&scopes.blocked, &scopes.insecure}) {
    for (const std::string& scope : *scopes_of_kind) entries.For(scope);
  }
  MarkInsecure(entries, ScopeSet(scopes.insecure));
  MarkBlocked(entries, ScopeSet(scopes.blocked));
  std::vector<const MergedMirrors*> sources;
  for (const auto* all : {&digest_mirrors, &tag_mirrors}) {
    for (const MergedMirrors& merged : *all) sources.push_back(&merged);
  }
  return InheritMirrors(entries, sources);
}

Result<> CheckAcceptedByTools(const RegistriesConf& conf) {
  for (const Registry& registry : conf.registries) TRY(CheckEntry(registry));
  return {};
}

const Registry* FindRegistry(const RegistriesConf& conf, std::string_view name) {
  const Registry* found = nullptr;
  for (const Registry& registry : conf.registries) {
    if (!MatchedLength(name, registry.scope())) continue;
    if (found == nullptr || IsPreferred(registry, *found)) found = &registry;
  }
  return found;
}

Result<std::vector<PullSource>> PullSources(const Registry& entry, std::string_view image) {
  const bool has_digest = image.find('@') != std::string_view::npos;
  std::vector<const RegistryEndpoint*> endpoints;
  for (const RegistryEndpoint& mirror : entry.mirrors) {
    if (IsUsed(mirror, entry, has_digest)) endpoints.push_back(&mirror);
  }
  endpoints.push_back(&entry.endpoint);
  std::vector<PullSource> sources;
  for (const RegistryEndpoint* endpoint : endpoints) {
    std::string repository = TRY(RepositoryAt(*endpoint, entry, image));
    sources.push_back({endpoint, std::move(repository)});
  }
  return sources;
}

}  // namespace pintle::generated
