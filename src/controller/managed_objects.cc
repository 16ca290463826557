// SPDX-License-Identifier: Apache-2.0
#include "controller/managed_objects.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cassert>
#include <span>
#include <tuple>
#include <utility>

#include "generated/pool_selection.h"
#include "json/fields.h"

namespace pintle::controller {
namespace {

using generated::ManagedKind;

// Returns the word by which the names of configs of this kind are recognized.
std::string_view WordOf(ManagedKind kind) { return kind == ManagedKind::kKubelet ? "kubelet" : "containerruntime"; }

constexpr std::size_t kUidLength = 36;

// Returns whether the text has the form of a uid.  Older operators used the uid of a config as the finalizer.
bool IsUid(std::string_view text) {
  return text.size() == kUidLength && text.find_first_not_of("0123456789abcdef-") == std::string_view::npos;
}

// Returns the config whose name or uid is the finalizer, or nullptr if there is none.
const api::MachineConfig* ConfigOfFinalizer(std::string_view finalizer, const GenerateInputs& inputs) {
  if (const api::MachineConfig* config = inputs.ConfigNamed(finalizer)) return config;
  const auto& configs = inputs.view.configs;
  const auto found = std::find_if(configs.begin(), configs.end(),
                                  [&](const auto* config) { return config->metadata.uid == finalizer; });
  return found == configs.end() ? nullptr : *found;
}

// Fails if an older object of the pool has the same number.  Without this check, an object that was copied with its
// annotation would share a config with the original.
Result<> CheckNumber(const api::ObjectMeta& object, std::span<const api::ObjectMeta* const> objects_of_pool) {
  const std::string* const suffix = api::Find(object.annotations, generated::kNameSuffixAnnotation);
  if (suffix == nullptr) return {};
  const auto age = [](const api::ObjectMeta& metadata) { return std::tie(metadata.creation_timestamp, metadata.name); };
  for (const api::ObjectMeta* other : objects_of_pool) {
    const std::string* const other_suffix = api::Find(other->annotations, generated::kNameSuffixAnnotation);
    if (other_suffix == nullptr || *other_suffix != *suffix || age(*other) >= age(object)) continue;
    return Error(ErrorKind::kInvalid,
                 fmt::format("the annotation {} has the value \"{}\", which the older object {} already uses; "
                             "remove the annotation",
                             generated::kNameSuffixAnnotation, *suffix, other->name));
  }
  return {};
}

// Returns whether the text has the form 99-POOL-generated-kubelet or 99-POOL-generated-kubelet-1.
bool IsGeneratedName(std::string_view text, std::string_view word) {
  const std::string middle = fmt::format("-generated-{}", word);
  const std::size_t at = text.rfind(middle);
  if (at == std::string_view::npos || !text.starts_with("99-")) return false;
  const std::string_view end = text.substr(at + middle.size());
  return end.empty() ||
         (end.size() > 1 && end.front() == '-' && end.find_first_not_of("0123456789", 1) == std::string_view::npos);
}

// Returns whether the text is a name that older operators gave a config: 99-POOL-UID-kubelet.
bool IsOldName(std::string_view text, std::string_view word) {
  const std::string end = fmt::format("-{}", word);
  if (!text.starts_with("99-") || !text.ends_with(end)) return false;
  text.remove_suffix(end.size());
  return text.size() > kUidLength && IsUid(text.substr(text.size() - kUidLength));
}

// Returns whether the operator or Pintle has set the finalizer.  Any other finalizer, even a similar one, may belong to
// another program.
bool IsOwnFinalizer(std::string_view finalizer, ManagedKind kind, const GenerateInputs& inputs) {
  return IsGeneratedName(finalizer, WordOf(kind)) || IsOldName(finalizer, WordOf(kind)) || IsUid(finalizer) ||
         ConfigOfFinalizer(finalizer, inputs) != nullptr;
}

// Returns whether the API server accepts the text as a finalizer.  It refuses the name of a config if the name of its
// pool is long.
bool CanBeFinalizer(std::string_view text) {
  constexpr std::size_t kLongest = 63;
  constexpr std::string_view kAtEnds = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
  const auto is_known = [&](char c) { return kAtEnds.find(c) != std::string_view::npos; };
  return !text.empty() && text.size() <= kLongest && is_known(text.front()) && is_known(text.back()) &&
         std::all_of(text.begin(), text.end(), [&](char c) { return is_known(c) || c == '-' || c == '_' || c == '.'; });
}

bool IsOwnedBy(const api::MachineConfig& config, const api::ObjectMeta& object) {
  const auto& owners = config.metadata.owner_references;
  return !object.uid.empty() &&
         std::any_of(owners.begin(), owners.end(), [&](const auto& owner) { return owner.uid == object.uid; });
}

// Returns whether a KubeletConfig or ContainerRuntimeConfig other than `object` owns the config.
bool HasOtherOwner(const api::MachineConfig& config, const api::ObjectMeta& object, ManagedKind kind,
                   const SourcesView& sources) {
  const auto is_owned_by_any = [&](const auto& objects) {
    return std::any_of(objects.begin(), objects.end(), [&](const auto* other) {
      return other->metadata.uid != object.uid && IsOwnedBy(config, other->metadata);
    });
  };
  return kind == ManagedKind::kKubelet ? is_owned_by_any(sources.kubelet_configs)
                                       : is_owned_by_any(sources.runtime_configs);
}

// Returns whether a config that a finalizer of the object names was made from this object.  The config may also be
// somebody else's, or it may have been made from the object of which this object is a copy.
bool IsConfigOf(const api::MachineConfig& config, const api::ObjectMeta& object, ManagedKind kind,
                const SourcesView& sources) {
  if (HasOtherOwner(config, object, kind, sources)) return false;
  return IsOwnedBy(config, object) ||
         config.metadata.name.find(fmt::format("generated-{}", WordOf(kind))) != std::string::npos ||
         config.metadata.name.ends_with(fmt::format("-{}", WordOf(kind)));
}

// Returns whether the config belongs to one of the objects, or may do so because it has no owner.
bool MayBelongToAny(std::span<const api::ObjectMeta* const> objects, const api::MachineConfig& config) {
  const auto& owners = config.metadata.owner_references;
  const bool has_owner =
      std::any_of(owners.begin(), owners.end(), [](const auto& owner) { return !owner.uid.empty(); });
  return std::any_of(objects.begin(), objects.end(), [&](const api::ObjectMeta* object) {
    const auto& finalizers = object->finalizers;
    const auto is_config = [&](const std::string& finalizer) {
      return finalizer == config.metadata.name || finalizer == config.metadata.uid;
    };
    return !has_owner || IsOwnedBy(config, *object) || std::any_of(finalizers.begin(), finalizers.end(), is_config);
  });
}

// Returns a merge patch that has only the version of the object.
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

std::vector<const api::ObjectMeta*> NamesOfConfigs::ObjectsOfAnyOf(
    std::span<const api::MachineConfigPool* const> pools) const {
  std::vector<const api::ObjectMeta*> selecting;
  for (const Object& object : objects_) {
    if (!object.pools) continue;
    const auto is_selected = [&object](const api::MachineConfigPool* pool) {
      return std::find(object.pools->begin(), object.pools->end(), pool) != object.pools->end();
    };
    if (std::any_of(pools.begin(), pools.end(), is_selected)) selecting.push_back(&object.metadata);
  }
  return selecting;
}

Result<std::string> NamesOfConfigs::NameFor(const std::string& object, const api::MachineConfigPool& pool) {
  Object& named = Find(object);
  TRY(CheckNumber(named.metadata, ObjectsOfAnyOf(std::array{&pool})));
  // The number must be free in each of the object's pools, since all of its configs get it.
  const std::vector<const api::ObjectMeta*> objects = ObjectsOfAnyOf(TRY(named.pools));
  const auto has_config = [this](const std::string& name) { return inputs_.HasConfig(name); };
  generated::ManagedName name = TRY(generated::NameFor(kind_, named.metadata, objects, pool.metadata, has_config));
  named.metadata.annotations.emplace(generated::kNameSuffixAnnotation, generated::NameSuffixOf(name.name));
  return std::move(name.name);
}

std::optional<json::Value> PatchForConfigs(const api::ObjectMeta& object, std::span<const std::string> configs) {
  if (configs.empty()) return std::nullopt;
  json::Value patch = VersionedPatch(object);
  bool is_needed = false;
  if (api::Find(object.annotations, generated::kNameSuffixAnnotation) == nullptr) {
    patch["metadata"]["annotations"][std::string(generated::kNameSuffixAnnotation)] =
        generated::NameSuffixOf(configs.front());
    is_needed = true;
  }
  std::vector<std::string> finalizers = object.finalizers;
  for (const std::string& config : configs) {
    const bool is_there = std::find(finalizers.begin(), finalizers.end(), config) != finalizers.end();
    if (!is_there && CanBeFinalizer(config)) finalizers.push_back(config);
  }
  if (finalizers != object.finalizers) {
    patch["metadata"]["finalizers"] = json::Encode(finalizers);
    is_needed = true;
  }
  return is_needed ? std::optional(std::move(patch)) : std::nullopt;
}

ObjectCleanup CleanupOf(const api::ObjectMeta& object, ManagedKind kind, const GenerateInputs& inputs) {
  ObjectCleanup cleanup;
  const auto remove = [&](const api::MachineConfig& config) {
    cleanup.removals.push_back({.name = config.metadata.name, .uid = config.metadata.uid});
  };
  std::vector<std::string> kept;
  bool is_awaited = false;  // A config was created, and the mirror does not have it yet.
  for (const std::string& finalizer : object.finalizers) {
    is_awaited = is_awaited || inputs.awaited_configs.contains(finalizer);
    if (!IsOwnFinalizer(finalizer, kind, inputs)) {
      kept.push_back(finalizer);
      continue;
    }
    const api::MachineConfig* const config = ConfigOfFinalizer(finalizer, inputs);
    if (config != nullptr && IsConfigOf(*config, object, kind, inputs.sources)) remove(*config);
  }
  for (const api::MachineConfig* config : inputs.view.configs) {
    const bool is_without_finalizer = !CanBeFinalizer(config->metadata.name);
    if (is_without_finalizer && IsOwnedBy(*config, object)) remove(*config);
  }
  if (cleanup.removals.empty() && !is_awaited && kept.size() != object.finalizers.size()) {
    cleanup.patch = VersionedPatch(object);
    (*cleanup.patch)["metadata"]["finalizers"] = json::Encode(kept);
  }
  return cleanup;
}

std::vector<ConfigRemoval> OutdatedConfigs(const GenerateInputs& inputs, ManagedKind kind,
                                           const std::set<std::string, std::less<>>& wanted,
                                           std::span<const api::ObjectMeta* const> unsettled) {
  std::vector<ConfigRemoval> removals;
  for (const api::MachineConfig* config : inputs.view.configs) {
    const api::ObjectMeta& metadata = config->metadata;
    if (wanted.contains(metadata.name) || MayBelongToAny(unsettled, *config)) continue;
    if (generated::IsMadeByAnotherVersion(metadata, "99", WordOf(kind), inputs.version)) {
      removals.push_back({.name = metadata.name, .uid = metadata.uid});
    }
  }
  for (const api::MachineConfigPool* pool : inputs.view.pools) {
    const api::MachineConfig* const old =
        inputs.ConfigNamed(generated::OldConfigName("99", pool->metadata, WordOf(kind)));
    const bool has_successor = inputs.ConfigNamed(generated::PlainName(kind, pool->metadata.name)) != nullptr;
    const bool is_replaced = old != nullptr && has_successor && !MayBelongToAny(unsettled, *old);
    if (is_replaced) removals.push_back({.name = old->metadata.name, .uid = old->metadata.uid});
  }
  return removals;
}

}  // namespace pintle::controller
