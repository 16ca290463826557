// SPDX-License-Identifier: Apache-2.0
#include "plan/registries.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <vector>

#include "api/lenient.h"
#include "json/fields.h"
#include "machineconfig/toml.h"

namespace pintle::plan {
namespace {

constexpr std::string_view kDigestOnly = "digest-only";

struct Mirror {
  std::string location;
  std::string pull_from_mirror;
  bool insecure = false;

  static constexpr bool kLenient = true;
  static constexpr auto kFields = json::FieldList{
      json::Field{"location", &Mirror::location},
      json::Field{"pull-from-mirror", &Mirror::pull_from_mirror},
      json::Field{"insecure", &Mirror::insecure},
  };
};

struct Registry {
  std::string prefix;
  std::string location;
  bool blocked = false;
  bool insecure = false;
  bool mirror_by_digest_only = false;
  std::vector<Mirror> mirrors;

  static constexpr bool kLenient = true;
  static constexpr auto kFields = json::FieldList{
      json::Field{"prefix", &Registry::prefix},
      json::Field{"location", &Registry::location},
      json::Field{"blocked", &Registry::blocked},
      json::Field{"insecure", &Registry::insecure},
      json::Field{"mirror-by-digest-only", &Registry::mirror_by_digest_only},
      json::Field{"mirror", &Registry::mirrors},
  };
};

struct Registries {
  std::vector<std::string> search;
  std::vector<Registry> registries;

  static constexpr bool kLenient = true;
  static constexpr auto kFields = json::FieldList{
      json::Field{"unqualified-search-registries", &Registries::search},
      json::Field{"registry", &Registries::registries},
  };
};

Result<Registries> Read(std::string_view text) {
  const auto doing = [] { return fmt::format("failed decoding TOML content from file {}", kRegistriesPath); };
  json::Report report;
  auto registries = json::Decode<Registries>(TRY(machineconfig::ParseToml(text), doing()), report);
  TRY(report.ToResult(), doing());
  return registries;
}

// Returns the registries by their prefixes, or by the location if a registry has no prefix.
std::map<std::string, const Registry*> ByKey(const std::vector<Registry>& registries) {
  std::map<std::string, const Registry*> by_key;
  for (const Registry& registry : registries) {
    by_key.insert_or_assign(registry.prefix.empty() ? registry.location : registry.prefix, &registry);
  }
  return by_key;
}

const Mirror* FindMirror(const Registry& registry, std::string_view location) {
  const auto found = std::find_if(registry.mirrors.begin(), registry.mirrors.end(),
                                  [&](const Mirror& mirror) { return mirror.location == location; });
  return found == registry.mirrors.end() ? nullptr : &*found;
}

std::string HarmInMirrors(const Registry& from, const Registry& to) {
  for (const Mirror& mirror : from.mirrors) {
    if (FindMirror(to, mirror.location) == nullptr) return fmt::format("mirror {} is removed", mirror.location);
  }
  for (const Mirror& mirror : to.mirrors) {
    const Mirror* before = FindMirror(from, mirror.location);
    const bool is_digest_only = mirror.pull_from_mirror == kDigestOnly;
    if (before == nullptr) {
      if (is_digest_only || to.mirror_by_digest_only) continue;
      return fmt::format("mirror {} is added and also serves tags", mirror.location);
    }
    if (before->pull_from_mirror != mirror.pull_from_mirror && !is_digest_only) {
      return fmt::format("mirror {} now serves other images than before", mirror.location);
    }
  }
  return "";
}

std::string HarmInRegistry(const Registry& from, const Registry& to) {
  if (json::Equal(from, to)) return "";
  if (from.prefix != to.prefix || from.location != to.location) return "its prefix or location changes";
  if (from.blocked != to.blocked) return "its setting \"blocked\" changes";
  if (from.insecure != to.insecure) return "its setting \"insecure\" changes";
  return HarmInMirrors(from, to);
}

std::string HarmInNewRegistry(const Registry& registry) {
  if (registry.mirrors.empty()) {
    return registry.mirror_by_digest_only ? "" : "it is added without mirror-by-digest-only";
  }
  const bool all_are_digest_only = std::all_of(registry.mirrors.begin(), registry.mirrors.end(),
                                               [](const Mirror& each) { return each.pull_from_mirror == kDigestOnly; });
  return all_are_digest_only ? "" : "it is added with mirrors that also serve tags";
}

bool IsPrefix(const std::vector<std::string>& start, const std::vector<std::string>& whole) {
  return start.size() <= whole.size() && std::equal(start.begin(), start.end(), whole.begin());
}

}  // namespace

Result<std::string> HarmInRegistries(std::string_view from, std::string_view to) {
  const Registries before = TRY(Read(from));
  const Registries after = TRY(Read(to));
  if (!IsPrefix(before.search, after.search)) return std::string("unqualified-search-registries changes");
  const auto known = ByKey(before.registries);
  const auto wanted = ByKey(after.registries);
  for (const auto& [key, registry] : known) {
    if (!wanted.contains(key)) return fmt::format("registry {} is removed", key);
  }
  for (const auto& [key, registry] : wanted) {
    const auto same = known.find(key);
    const std::string harm =
        same == known.end() ? HarmInNewRegistry(*registry) : HarmInRegistry(*same->second, *registry);
    if (!harm.empty()) return fmt::format("registry {}: {}", key, harm);
  }
  return std::string();
}

}  // namespace pintle::plan
