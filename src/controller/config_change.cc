// SPDX-License-Identifier: Apache-2.0
#include "controller/config_change.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "controller/replacing_patch.h"
#include "json/fields.h"

namespace pintle::controller {
namespace {

using Owners = std::vector<api::OwnerReference>;

// Returns whether the wanted owner takes the place of the known one.  A config can have one controller only, and one
// reference to each owner.
bool IsReplaced(const api::OwnerReference& known, const api::OwnerReference& wanted) {
  const bool is_same = known.kind == wanted.kind && (known.uid == wanted.uid || known.name == wanted.name);
  return is_same || (known.controller.value_or(false) && wanted.controller.value_or(false));
}

Owners MergedOwners(Owners known, const Owners& wanted) {
  for (const api::OwnerReference& owner : wanted) {
    const bool is_there =
        std::any_of(known.begin(), known.end(), [&](const auto& other) { return json::Equal(other, owner); });
    if (is_there) continue;
    std::erase_if(known, [&](const api::OwnerReference& other) { return IsReplaced(other, owner); });
    known.push_back(owner);
  }
  return known;
}

api::MachineConfig Merged(const api::MachineConfig& existing, const api::MachineConfig& wanted, OwnedParts parts) {
  api::MachineConfig merged = existing;
  for (const auto& [key, value] : wanted.metadata.labels) merged.metadata.labels[key] = value;
  for (const auto& [key, value] : wanted.metadata.annotations) merged.metadata.annotations[key] = value;
  merged.metadata.owner_references =
      MergedOwners(std::move(merged.metadata.owner_references), wanted.metadata.owner_references);
  merged.spec.config = wanted.spec.config;
  if (parts != OwnedParts::kConfig) merged.spec.kernel_arguments = wanted.spec.kernel_arguments;
  if (parts == OwnedParts::kAll) {
    merged.spec.extensions = wanted.spec.extensions;
    merged.spec.fips = wanted.spec.fips;
  }
  return merged;
}

json::Value PatchFrom(const api::MachineConfig& existing, const api::MachineConfig& merged) {
  ReplacingPatch patch(existing.metadata);
  patch.Set("/metadata/labels", json::Encode(merged.metadata.labels));
  patch.Set("/metadata/annotations", json::Encode(merged.metadata.annotations));
  patch.Set("/metadata/ownerReferences", json::Encode(merged.metadata.owner_references));
  patch.Set("/spec", json::Encode(merged.spec));
  return std::move(patch).operations();
}

}  // namespace

std::optional<ConfigChange> ChangeTo(const api::MachineConfig* existing, const generated::MachineConfig& wanted,
                                     OwnedParts parts, MadeFrom made_from) {
  api::MachineConfig wanted_object = generated::ToObject(wanted);
  ConfigChange change{.name = wanted.name,
                      .made_from = made_from,
                      .object = made_from == MadeFrom::kTemplates ? wanted.name : wanted.role,
                      .creation_or_patch = json::Value()};
  if (existing == nullptr) {
    change.creation_or_patch = std::move(wanted_object);
    return change;
  }
  const api::MachineConfig merged = Merged(*existing, wanted_object, parts);
  if (json::Equal(merged.metadata, existing->metadata) && json::Equal(merged.spec, existing->spec)) return std::nullopt;
  change.creation_or_patch = PatchFrom(*existing, merged);
  return change;
}

}  // namespace pintle::controller
