// SPDX-License-Identifier: Apache-2.0
#pragma once

// KubeletConfigs and ContainerRuntimeConfigs, and the names of the configs that are generated from them.
//
// Either the names of all configs of an object end with the same number, or none of them has a number.  The object has
// an annotation with this number, and the names as finalizers.  It gets both before the configs are created, so that no
// crash leaves a config without an object.  Annotations and finalizers of others stay.

#include <deque>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "controller/generate_changes.h"
#include "controller/generate_inputs.h"
#include "generated/managed_names.h"

namespace pintle::controller {

// Chooses the names of configs for all objects of one kind.
class NamesOfConfigs {
 public:
  NamesOfConfigs(const GenerateInputs& inputs, generated::ManagedKind kind) : inputs_(inputs), kind_(kind) {}

  // Must be called for all objects before any name is chosen.  `selector` selects the pools of the object.
  void Add(const api::ObjectMeta& object, const std::optional<api::LabelSelector>& selector);

  // Returns the pools that an object selects, sorted by name.  `object` is the name of an object that was added.
  Result<std::vector<const api::MachineConfigPool*>> PoolsOf(const std::string& object) { return Find(object).pools; }

  // Chooses the name of the config that is made from the object for one of these pools.  The object's configs for its
  // other pools get the same number, so the number must be free in all pools that the object selects.
  Result<std::string> NameFor(const std::string& object, const api::MachineConfigPool& pool);

 private:
  struct Object {
    api::ObjectMeta metadata;  // Has the annotation with the number, as soon as a number is chosen.
    Result<std::vector<const api::MachineConfigPool*>> pools;
  };

  Object& Find(const std::string& object);
  // Returns the objects that select at least one of the pools.
  std::vector<const api::ObjectMeta*> ObjectsOfAnyOf(std::span<const api::MachineConfigPool* const> pools) const;

  const GenerateInputs& inputs_;
  const generated::ManagedKind kind_;
  std::deque<Object> objects_;
};

// Returns the merge patch that gives an object the number and the finalizers for these configs, or nullopt if the
// object has them already.
std::optional<json::Value> PatchForConfigs(const api::ObjectMeta& object, std::span<const std::string> configs);

// The next writes for an object that is being deleted.  First its configs are removed, and then its finalizers.  A
// config that another object owns stays: the deleted object may be a copy of the other object, with the same
// finalizers.
struct ObjectCleanup {
  std::vector<ConfigRemoval> removals;
  std::optional<json::Value> patch;  // Removes the finalizers; unset as long as there are configs to remove.
};
ObjectCleanup CleanupOf(const api::ObjectMeta& object, generated::ManagedKind kind, const GenerateInputs& inputs);

// Returns the configs to remove: those that another version of the controller has made and that are not wanted any
// more, and those with a name that older operators used, if a config with the present name exists.
//
// `wanted` are the names of all current configs.  `unsettled` are the objects that have a problem, or for which
// something is being written; the configs of these objects stay.  While there is such an object, configs without an
// owner stay, too: they may be configs of this object, because the operator's bootstrap sets no uids of owners.
std::vector<ConfigRemoval> OutdatedConfigs(const GenerateInputs& inputs, generated::ManagedKind kind,
                                           const std::set<std::string, std::less<>>& wanted,
                                           std::span<const api::ObjectMeta* const> unsettled);

}  // namespace pintle::controller
