// SPDX-License-Identifier: Apache-2.0
#pragma once

// The pass for KubeletConfigs and ContainerRuntimeConfigs.  Such an object selects pools, and the pass makes a config
// from the object for each of these pools.
//
// An object with a problem keeps the configs that it has, and its status reports the problem.  A problem affects no
// other object.  A problem in one pool does not affect the object's configs for other pools.
//
// Objects that are being deleted are left to CleanUpDeleted(), which also runs if nothing can be made.

#include <algorithm>
#include <concepts>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/first_characters.h"
#include "controller/config_outcome.h"
#include "controller/managed_objects.h"
#include "json/field_list.h"

namespace pintle::controller {

// The rules that differ between the two kinds.  A problem is a message for the object's status, or an empty text if
// there is no problem.
template <typename T>
concept ManagedRules = requires(T& rules, const typename T::Object& object, const api::MachineConfigPool& pool,
                                std::string& problem, const Error& error) {
  { T::kManagedKind } -> std::convertible_to<generated::ManagedKind>;
  { T::kSourceKind } -> std::convertible_to<SourceKind>;
  { T::kMadeFrom } -> std::convertible_to<MadeFrom>;
  { rules.Objects() } -> std::convertible_to<std::vector<const typename T::Object*>>;
  // Returns why objects of the kind cannot be read, or "".
  { rules.WhyUnreadable() } -> std::convertible_to<std::string>;
  // Return an error if the object is invalid: for all pools, or for one of them.
  { rules.Check(object) } -> std::same_as<Result<>>;
  { rules.CheckFor(object, pool) } -> std::same_as<Result<>>;
  // Returns the problem of an object that selects no pool.
  { rules.WithoutPool(object) } -> std::same_as<std::string>;
  // Makes the config of the given name.  May set `problem`, even if a config is returned.
  { rules.Make(object, pool, std::string(), problem) } -> std::same_as<std::optional<generated::MachineConfig>>;
  // Return the problem for an error: of the object, of choosing a config's name, or of a write.
  { rules.ProblemOf(error) } -> std::same_as<std::string>;
  { rules.ProblemOfName(error) } -> std::same_as<std::string>;
  { rules.ProblemOfWriting(error) } -> std::same_as<std::string>;
  // Returns the status after a problem, or after a success.  Returns nullopt if the status does not change.
  { rules.StatusAfter(object, problem) } -> std::same_as<std::optional<json::Value>>;
};

// Cleans up after the objects that are being deleted.
template <typename Object>
void CleanUpDeleted(const std::vector<const Object*>& objects, generated::ManagedKind kind, SourceKind source_kind,
                    const GenerateInputs& inputs, GenerateChanges& changes) {
  for (const Object* object : objects) {
    if (!object->metadata.deletion_timestamp) continue;
    ObjectCleanup cleanup = CleanupOf(object->metadata, kind, inputs);
    for (ConfigRemoval& removal : cleanup.removals) changes.removals.push_back(std::move(removal));
    if (!cleanup.patch) continue;
    changes.sources.push_back({.kind = source_kind,
                               .name = {"", object->metadata.name},
                               .part = kube::Part::kObject,
                               .patch = *std::move(cleanup.patch)});
  }
}

template <ManagedRules Rules>
class ManagedPass {
 public:
  using Object = typename Rules::Object;

  ManagedPass(const GenerateInputs& inputs, Rules rules, GenerateChanges& changes)
      : inputs_(inputs), rules_(std::move(rules)), changes_(changes), names_(inputs, Rules::kManagedKind) {}

  void Run() {
    std::vector<const Object*> objects = rules_.Objects();
    // The oldest object gets the lowest number.
    std::stable_sort(objects.begin(), objects.end(), [](const Object* a, const Object* b) {
      return a->metadata.creation_timestamp < b->metadata.creation_timestamp;
    });
    for (const Object* object : objects) names_.Add(object->metadata, object->spec.machine_config_pool_selector);
    for (const Object* object : objects) {
      if (!object->metadata.deletion_timestamp) Sync(*object);
    }
    if (!rules_.WhyUnreadable().empty()) return;
    for (ConfigRemoval& removal : OutdatedConfigs(inputs_, Rules::kManagedKind, wanted_, unsettled_)) {
      changes_.removals.push_back(std::move(removal));
    }
  }

 private:
  void Sync(const Object& object) {
    if (const auto valid = rules_.Check(object); !valid) return Report(object, rules_.ProblemOf(valid.error()));
    const auto pools = names_.PoolsOf(object.metadata.name);
    if (!pools) return Report(object, rules_.ProblemOf(pools.error()));
    if (pools->empty()) return Report(object, rules_.WithoutPool(object));
    problem_.clear();
    std::vector<generated::MachineConfig> configs;
    std::vector<std::string> names;
    for (const api::MachineConfigPool* pool : *pools) {
      auto config = Make(object, *pool);
      if (!config) continue;
      names.push_back(config->name);
      configs.push_back(*std::move(config));
    }
    if (auto patch = PatchForConfigs(object.metadata, names)) {
      unsettled_.push_back(&object.metadata);
      Patch(object, *std::move(patch), kube::Part::kObject);
      const auto refusal = inputs_.refused_sources.find({Rules::kSourceKind, object.metadata.name});
      if (refusal == inputs_.refused_sources.end()) return;
      return Report(object, rules_.ProblemOfWriting(Error(ErrorKind::kInvalid, refusal->second)));
    }
    const bool are_written = Write(configs);
    if (!are_written) unsettled_.push_back(&object.metadata);
    if (are_written || !problem_.empty()) Report(object, problem_);
  }

  std::optional<generated::MachineConfig> Make(const Object& object, const api::MachineConfigPool& pool) {
    if (const auto valid = rules_.CheckFor(object, pool); !valid) {
      NoteProblem(rules_.ProblemOf(valid.error()));
      return std::nullopt;
    }
    Result<std::string> name = NameFor(object, pool);
    if (!name) {
      NoteProblem(rules_.ProblemOfName(name.error()));
      return std::nullopt;
    }
    wanted_.insert(*name);
    std::string problem;
    auto config = rules_.Make(object, pool, *std::move(name), problem);
    NoteProblem(std::move(problem));
    return config;
  }

  Result<std::string> NameFor(const Object& object, const api::MachineConfigPool& pool) {
    // An object that cannot be read may have the number that this object would get.
    const bool has_number = api::Find(object.metadata.annotations, generated::kNameSuffixAnnotation) != nullptr;
    const std::string why = rules_.WhyUnreadable();
    if (!has_number && !why.empty()) return Error(ErrorKind::kInvalid, why);
    return names_.NameFor(object.metadata.name, pool);
  }

  // Writes the configs.  Returns whether all of them are in place already.
  bool Write(const std::vector<generated::MachineConfig>& configs) {
    bool are_written = true;
    for (const generated::MachineConfig& config : configs) {
      inputs_.ReportMade(Rules::kMadeFrom, config);
      const ConfigOutcome outcome =
          WriteUnlessAwaited(config, OwnedParts::kConfig, Rules::kMadeFrom, inputs_, changes_);
      are_written = are_written && outcome.is_in_place;
      if (outcome.refusal) NoteProblem(rules_.ProblemOfWriting(*outcome.refusal));
    }
    return are_written;
  }

  // Keeps the first problem of the object that is being synced.
  void NoteProblem(std::string problem) {
    if (problem_.empty()) problem_ = std::move(problem);
  }

  void Report(const Object& object, const std::string& problem) {
    if (!problem.empty()) unsettled_.push_back(&object.metadata);
    std::optional<json::Value> status =
        rules_.StatusAfter(object, FirstCharacters(problem, api::kLongestConditionMessage));
    if (!status) return;
    Patch(object,
          {{"metadata", {{"resourceVersion", object.metadata.resource_version}}}, {"status", *std::move(status)}},
          kube::Part::kStatus);
  }

  void Patch(const Object& object, json::Value patch, kube::Part part) {
    changes_.sources.push_back(
        {.kind = Rules::kSourceKind, .name = {"", object.metadata.name}, .part = part, .patch = std::move(patch)});
  }

  const GenerateInputs& inputs_;
  Rules rules_;
  GenerateChanges& changes_;
  NamesOfConfigs names_;
  std::set<std::string, std::less<>> wanted_;  // The names of all configs that are made.
  // The objects that have a problem, or for which something is being written.  Their outdated configs are not removed.
  std::vector<const api::ObjectMeta*> unsettled_;
  std::string problem_;  // The first problem of the object that is being synced.
};

}  // namespace pintle::controller
