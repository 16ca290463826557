// SPDX-License-Identifier: Apache-2.0
#include "controller/managed_objects.h"

#include <fmt/core.h>

#include <algorithm>
#include <cassert>
#include <span>
#include <tuple>
#include <utility>

#include "generated/pool_selection.h"
#include "json/field_list.h"

namespace pintle::controller {
namespace {

using generated::ManagedKind;

std::string_view WordOf(ManagedKind kind) { return kind == ManagedKind::kKubelet ? "kubelet" : "containerruntime"; }

// Older operators used the uid of a config as the finalizer.
bool IsUid(std::string_view text) {
  constexpr std::size_t kLength = 36;
  return text.size() == kLength && text.find_first_not_of("0123456789abcdef-") == std::string_view::npos;
}

const api::MachineConfig* ConfigOfFinalizer(std::string_view finalizer, const GenerateInputs& inputs) {
  if (const api::MachineConfig* config = inputs.ConfigNamed(finalizer)) return config;
  const auto& configs = inputs.view.configs;
  const auto found = std::find_if(configs.begin(), configs.end(),
                                  [&](const auto* config) { return config->metadata.uid == finalizer; });
  return found == configs.end() ? nullptr : *found;
}

// Fails if an older object has the same number.  An object that was copied with its annotation would share a config
// with the original.
Result<> CheckNumber(const api::ObjectMeta& object, std::span<const api::ObjectMeta* const> of_pool) {
  const std::string* const suffix = api::Find(object.annotations, generated::kNameSuffixAnnotation);
  if (suffix == nullptr) return {};
  const auto age = [](const api::ObjectMeta& metadata) { return std::tie(metadata.creation_timestamp, metadata.name); };
  for (const api::ObjectMeta* other : of_pool) {
    const std::string* const other_suffix = api::Find(other->annotations, generated::kNameSuffixAnnotation);
    if (other_suffix == nullptr || *other_suffix != *suffix || age(*other) >= age(object)) continue;
    return Error(ErrorKind::kInvalid,
                 fmt::format("its annotation {} is \"{}\", like that of {}, which is older; remove "
                             "the annotation",
                             generated::kNameSuffixAnnotation, *suffix, other->name));
  }
  return {};
}

// A finalizer of another program has a domain: "example.test/backup".
bool IsOwnFinalizer(std::string_view finalizer, ManagedKind kind, const GenerateInputs& inputs) {
  if (finalizer.find('/') != std::string_view::npos) return false;
  return finalizer.find(WordOf(kind)) != std::string_view::npos || IsUid(finalizer) ||
         ConfigOfFinalizer(finalizer, inputs) != nullptr;
}

// The name in a finalizer may also be that of somebody else's config.
bool IsConfigOf(const api::MachineConfig& config, const api::ObjectMeta& object, ManagedKind kind) {
  const auto& owners = config.metadata.owner_references;
  const bool is_owner =
      std::any_of(owners.begin(), owners.end(), [&](const auto& owner) { return owner.uid == object.uid; });
  return is_owner || config.metadata.name.find(fmt::format("generated-{}", WordOf(kind))) != std::string::npos ||
         config.metadata.name.ends_with(fmt::format("-{}", WordOf(kind)));
}

json::Value VersionedPatch(const api::ObjectMeta& object) {
  return {{"metadata", {{"resourceVersion", object.resource_version}}}};
}

}  // namespace

void NamesOfConfigs::Add(const api::ObjectMeta& object, const std::optional<api::LabelSelector>& selector) {
  std::vector<const api::MachineConfigPool*> pools;
  std::optional<Error> problem;
  for (const api::MachineConfigPool* pool : inputs_.view.pools) {
    const auto is_selected = generated::IsSelected(*pool, selector);
    if (!is_selected) problem = is_selected.error();
    if (is_selected && *is_selected && !pool->metadata.deletion_timestamp) pools.push_back(pool);
  }
  if (problem) {
    objects_.push_back({object, *std::move(problem)});
  } else {
    objects_.push_back({object, std::move(pools)});
  }
}

NamesOfConfigs::Object& NamesOfConfigs::Find(const std::string& object) {
  const auto found = std::find_if(objects_.begin(), objects_.end(),
                                  [&](const Object& known) { return known.metadata.name == object; });
  assert(found != objects_.end());
  return *found;
}

Result<std::string> NamesOfConfigs::NameFor(const std::string& object, const api::MachineConfigPool& pool) {
  std::vector<const api::ObjectMeta*> of_pool;
  for (const Object& other : objects_) {
    if (other.pools && std::find(other.pools->begin(), other.pools->end(), &pool) != other.pools->end()) {
      of_pool.push_back(&other.metadata);
    }
  }
  api::ObjectMeta& metadata = Find(object).metadata;
  TRY(CheckNumber(metadata, of_pool));
  const auto has_config = [this](const std::string& name) { return inputs_.HasConfig(name); };
  generated::ManagedName name = TRY(generated::NameFor(kind_, metadata, of_pool, pool.metadata, has_config));
  metadata.annotations.emplace(generated::kNameSuffixAnnotation, generated::SuffixOf(name.name));
  return std::move(name.name);
}

std::optional<json::Value> PatchForConfigs(const api::ObjectMeta& object, std::span<const std::string> configs) {
  if (configs.empty()) return std::nullopt;
  json::Value patch = VersionedPatch(object);
  bool is_needed = false;
  if (api::Find(object.annotations, generated::kNameSuffixAnnotation) == nullptr) {
    patch["metadata"]["annotations"][std::string(generated::kNameSuffixAnnotation)] =
        generated::SuffixOf(configs.front());
    is_needed = true;
  }
  std::vector<std::string> finalizers = object.finalizers;
  for (const std::string& config : configs) {
    if (std::find(finalizers.begin(), finalizers.end(), config) == finalizers.end()) finalizers.push_back(config);
  }
  if (finalizers != object.finalizers) {
    patch["metadata"]["finalizers"] = json::Encode(finalizers);
    is_needed = true;
  }
  return is_needed ? std::optional(std::move(patch)) : std::nullopt;
}

ObjectCleanup CleanupOf(const api::ObjectMeta& object, ManagedKind kind, const GenerateInputs& inputs) {
  ObjectCleanup cleanup;
  std::vector<std::string> kept;
  for (const std::string& finalizer : object.finalizers) {
    if (!IsOwnFinalizer(finalizer, kind, inputs)) {
      kept.push_back(finalizer);
      continue;
    }
    const api::MachineConfig* const config = ConfigOfFinalizer(finalizer, inputs);
    if (config == nullptr || !IsConfigOf(*config, object, kind)) continue;
    cleanup.removals.push_back({.name = config->metadata.name, .uid = config->metadata.uid});
  }
  if (cleanup.removals.empty() && kept.size() != object.finalizers.size()) {
    cleanup.patch = VersionedPatch(object);
    (*cleanup.patch)["metadata"]["finalizers"] = json::Encode(kept);
  }
  return cleanup;
}

std::vector<ConfigRemoval> OutdatedConfigs(const GenerateInputs& inputs, ManagedKind kind,
                                           const std::set<std::string, std::less<>>& wanted,
                                           const std::set<std::string, std::less<>>& owners) {
  std::vector<ConfigRemoval> removals;
  for (const api::MachineConfig* config : inputs.view.configs) {
    const api::ObjectMeta& metadata = config->metadata;
    const bool is_owned = std::any_of(metadata.owner_references.begin(), metadata.owner_references.end(),
                                      [&](const auto& owner) { return owners.contains(owner.uid); });
    if (wanted.contains(metadata.name) || is_owned) continue;
    if (generated::IsStale(metadata, "99", WordOf(kind), inputs.version)) {
      removals.push_back({.name = metadata.name, .uid = metadata.uid});
    }
  }
  for (const api::MachineConfigPool* pool : inputs.view.pools) {
    const api::MachineConfig* const old =
        inputs.ConfigNamed(generated::OldConfigName("99", pool->metadata, WordOf(kind)));
    const bool has_successor = inputs.ConfigNamed(generated::PlainName(kind, pool->metadata.name)) != nullptr;
    if (old != nullptr && has_successor) removals.push_back({.name = old->metadata.name, .uid = old->metadata.uid});
  }
  return removals;
}

}  // namespace pintle::controller
