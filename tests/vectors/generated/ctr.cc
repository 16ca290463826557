// SPDX-License-Identifier: Apache-2.0

// Runs cases of ContainerRuntimeConfigs at bootstrap.

#include "api/container_runtime_config.h"
#include "generated/container_runtime.h"
#include "generated/runtime_templates.h"
#include "vectors/generated/case_files.h"
#include "vectors/generated/kinds.h"
#include "vectors/generated/runtime_inputs.h"

namespace pintle::vectors {
namespace {

using Made = Result<std::vector<generated::MachineConfig>>;

Made RuntimeConfigsOf(const CaseObjects& objects, const RoleTemplates& templates) {
  const auto configs = TRY(objects.All<api::ContainerRuntimeConfig>("ContainerRuntimeConfig"));
  const auto pools = objects.Pools();
  const RuntimeTemplatesOfPools of_pools =
      TRY(TemplatesOf(objects, templates), generated::kNoTemplatesForRuntimeConfigs);
  std::vector<generated::PoolWithTemplates> with_templates;
  for (const auto& pool : pools) with_templates.push_back({&pool, &of_pools.at(pool.metadata.name)});
  const auto stores = objects.IsEnabled("AdditionalStorageConfig") ? generated::AdditionalStores::kUsed
                                                                   : generated::AdditionalStores::kUnused;
  return TRY(generated::RuntimeConfigsAtBootstrap(configs, with_templates, stores, "HASH")).configs;
}

// Returns whether the operator panicked, which it does if there is no spec.containerRuntimeConfig.
bool IsPanic(const std::filesystem::path& output) {
  return std::filesystem::exists(output / "error.txt") && TextOf(output / "error.txt").starts_with("PANIC: ");
}

std::string DifferenceFromOurError(const Made& made) {
  constexpr std::string_view kOurs = "has no spec.containerRuntimeConfig";
  if (made) return "should be an error";
  return made.error().message().find(kOurs) == std::string::npos ? "another error: " + made.error().message() : "";
}

void TryRuntimeCase(const std::filesystem::path& folder, const std::string& name, const RoleTemplates& templates,
                    Tally& tally) {
  const std::filesystem::path output = folder / name / "out-own";
  const Made made = RuntimeConfigsOf(CaseObjects(folder, name), templates);
  if (IsPanic(output)) {
    tally.AddDeliberate(name, "an error where the operator panics", DifferenceFromOurError(made));
  } else {
    tally.Add(name, DifferenceFrom(output, made));
  }
}

}  // namespace

Tally RunCtr(const std::filesystem::path& folder) {
  Tally tally("ctr");
  const RoleTemplates templates(folder / ".." / "own-templates");
  for (const std::string& name : NamesIn(folder)) {
    tally.Try(name, [&] { TryRuntimeCase(folder, name, templates, tally); });
  }
  return tally;
}

}  // namespace pintle::vectors
