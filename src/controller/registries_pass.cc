// SPDX-License-Identifier: Apache-2.0
#include "controller/registries_pass.h"

#include <fmt/core.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "controller/config_outcome.h"
#include "generated/image_files.h"
#include "generated/pool_selection.h"
#include "generated/runtime_templates.h"
#include "json/fields.h"

namespace pintle::controller {
namespace {

Result<std::vector<generated::NewFile>> RegistryFiles(const generated::ImageRules& rules,
                                                      generated::PoolTemplates& templates, const std::string& pool) {
  return generated::FilesOf(rules,
                            TRY(generated::RuntimeTemplatesFor(templates, pool), generated::kNoTemplatesForImages));
}

// Returns the name of a pool's config.  A config that exists under a name which older operators used keeps this name.
std::string NameOfRegistriesConfig(const GenerateInputs& inputs, const api::ObjectMeta& pool) {
  std::string name = generated::RegistriesConfigName(pool.name);
  std::string old_name = generated::OldRegistriesConfigName(pool);
  return !inputs.HasConfig(name) && inputs.HasConfig(old_name) ? std::move(old_name) : std::move(name);
}

void SetConditions(const api::ImagePolicy& policy, const std::vector<api::ConditionWithGeneration>& conditions,
                   GenerateChanges& changes) {
  const auto& known = policy.status.conditions;
  const bool is_same = std::equal(known.begin(), known.end(), conditions.begin(), conditions.end(),
                                  [](const auto& a, const auto& b) { return json::Equal(a, b); });
  if (is_same) return;
  changes.sources.push_back({.kind = SourceKind::kImagePolicy,
                             .name = kube::NameOf(policy.metadata),
                             .part = kube::Part::kStatus,
                             .patch = {{"metadata", {{"resourceVersion", policy.metadata.resource_version}}},
                                       {"status", {{"conditions", json::Encode(conditions)}}}}});
}

void ReportConflicts(const std::vector<generated::PolicyConflict>& conflicts, const GenerateInputs& inputs,
                     GenerateChanges& changes) {
  for (const api::ImagePolicy& policy : inputs.sources.namespace_policies) {
    const auto conflict =
        std::find_if(conflicts.begin(), conflicts.end(), [&](const auto& known) { return known.policy == &policy; });
    SetConditions(policy,
                  conflict == conflicts.end() ? generated::ConditionsWithoutConflict(policy)
                                              : generated::ConditionsOf(*conflict, inputs.now),
                  changes);
  }
}

}  // namespace

void RegistriesPass(const GenerateInputs& inputs, generated::PoolTemplates& templates, ImageSignatures signatures,
                    GenerateChanges& changes) {
  const SourcesView& sources = inputs.sources;
  if (sources.image == nullptr || sources.cluster_version == nullptr) return;
  const bool are_verified = signatures == ImageSignatures::kVerified;
  generated::ImageInputs image_inputs{.image = sources.image,
                                      .release_image = sources.cluster_version->status.desired.image,
                                      .mirrors = sources.Mirrors(),
                                      .cluster_policies = {},
                                      .namespace_policies = {}};
  if (are_verified) {
    image_inputs.cluster_policies = sources.cluster_policies;
    image_inputs.namespace_policies = sources.namespace_policies;
  }
  const auto rules = generated::ImageRulesOf(image_inputs, generated::ImagesFor::kCluster);
  if (!rules) {
    return changes.problems.push_back(
        {.made_from = MadeFrom::kImages, .what = "making the registries' configs", .why = rules.error().message()});
  }
  for (const std::string& complaint : rules->complaints) {
    changes.problems.push_back(
        {.made_from = MadeFrom::kImages, .what = "blocking a registry", .why = complaint, .is_warning = true});
  }
  if (are_verified) ReportConflicts(rules->requirements.conflicts, inputs, changes);
  for (const api::MachineConfigPool* pool : inputs.view.pools) {
    if (!generated::IsBuiltInPool(*pool) || pool->metadata.deletion_timestamp) continue;
    const auto files = RegistryFiles(*rules, templates, pool->metadata.name);
    if (!files) {
      changes.problems.push_back({.made_from = MadeFrom::kImages,
                                  .what = fmt::format("making the registries' config of pool {}", pool->metadata.name),
                                  .why = files.error().message()});
      continue;
    }
    const generated::MachineConfig config = generated::RegistriesConfig(NameOfRegistriesConfig(inputs, pool->metadata),
                                                                        *pool, *files, *sources.image, inputs.version);
    inputs.ReportMade(MadeFrom::kImages, config);
    WriteUnlessAwaited(config, OwnedParts::kConfig, MadeFrom::kImages, inputs, changes);
  }
}

}  // namespace pintle::controller
