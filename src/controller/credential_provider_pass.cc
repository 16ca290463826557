// SPDX-License-Identifier: Apache-2.0
#include "controller/credential_provider_pass.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/first_characters.h"
#include "controller/config_outcome.h"
#include "generated/credential_provider.h"
#include "generated/pool_selection.h"
#include "generated/runtime_templates.h"
#include "json/fields.h"

namespace pintle::controller {
namespace {

Result<generated::CredentialProviderFiles> ProviderFiles(const GenerateInputs& inputs,
                                                         generated::PoolTemplates& templates, const std::string& pool) {
  const auto configs = templates.For(pool);
  if (!configs) {
    return generated::ProviderTemplatesFailed(pool, generated::RuntimeTemplatesFailed(configs.error()).message());
  }
  const std::string& platform =
      inputs.sources.whole_controller_config->spec.TextAt({"infra", "status", "platformStatus", "type"});
  return generated::FilesOf(inputs.sources.credential_providers->spec,
                            {.platform = platform, .role = pool, .configs = *configs});
}

}  // namespace

void CredentialProviderPass(const GenerateInputs& inputs, generated::PoolTemplates& templates,
                            GenerateChanges& changes) {
  const api::CredentialProviderConfig* const object = inputs.sources.credential_providers;
  if (object == nullptr) return;
  // The images that another provider covers already; unset if no config could be made.
  std::optional<std::vector<std::string>> overlapping;
  std::optional<Error> failure;  // The first one.
  bool has_pool = false;
  bool are_in_place = true;
  for (const api::MachineConfigPool* pool : inputs.view.pools) {
    if (!generated::IsBuiltInPool(*pool) || pool->metadata.deletion_timestamp) continue;
    has_pool = true;
    auto made = ProviderFiles(inputs, templates, pool->metadata.name);
    if (!made) {
      if (!failure) failure = std::move(made).error();
      continue;
    }
    overlapping = std::move(made->overlapping);
    const generated::MachineConfig config =
        generated::CredentialProviderMachineConfig(*pool, made->files, *object, inputs.version);
    inputs.ReportMade(MadeFrom::kCredentialProviders, config);
    ConfigOutcome outcome =
        WriteUnlessAwaited(config, OwnedParts::kConfig, MadeFrom::kCredentialProviders, inputs, changes);
    are_in_place = are_in_place && outcome.is_in_place;
    if (!failure) failure = std::move(outcome.refusal);
  }
  if (!has_pool || (!are_in_place && !failure)) return;
  const std::string problem = failure ? "could not Create/Update MachineConfig: " + failure->message() : "";
  const auto conditions = generated::ConditionsOf(*object, overlapping,
                                                  FirstCharacters(problem, api::kLongestConditionMessage), inputs.now);
  const auto& known = object->status.conditions;
  const bool is_same = std::equal(known.begin(), known.end(), conditions.begin(), conditions.end(),
                                  [](const auto& a, const auto& b) { return json::Equal(a, b); });
  if (is_same) return;
  changes.sources.push_back({.kind = SourceKind::kCredentialProviderConfig,
                             .name = {"", object->metadata.name},
                             .part = kube::Part::kStatus,
                             .patch = {{"metadata", {{"resourceVersion", object->metadata.resource_version}}},
                                       {"status", {{"conditions", json::Encode(conditions)}}}}});
}

}  // namespace pintle::controller
