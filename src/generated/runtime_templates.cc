// SPDX-License-Identifier: Apache-2.0
#include "generated/runtime_templates.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <array>
#include <string_view>
#include <utility>
#include <vector>

#include "generated/invalid.h"
#include "generated/read_back.h"

namespace pintle::generated {
namespace {

struct RequiredFile {
  std::string_view path;
  std::string RuntimeTemplates::*contents;
  std::string_view name;  // The name in the operator's errors.
  std::string_view why_missing;
};

constexpr auto kRequiredFiles = std::to_array<RequiredFile>({
    {"/etc/containers/storage.conf", &RuntimeTemplates::storage_conf, "Storage", "could not find Storage Config"},
    {"/etc/containers/registries.conf", &RuntimeTemplates::registries_conf, "Registries",
     "could not find Registries Config"},
    {"/etc/containers/policy.json", &RuntimeTemplates::policy_json, "Policy JSON", "could not find Policy JSON"},
});

}  // namespace

Result<RuntimeTemplates> FindRuntimeTemplates(std::span<const MachineConfig> configs) {
  RuntimeTemplates templates;
  std::vector<std::string> problems;
  for (const RequiredFile& file : kRequiredFiles) {
    if (auto contents = ContentsOfFile(configs, file.path)) {
      templates.*file.contents = *std::move(contents);
    } else if (const auto problem = ParseProblemOfLast(configs)) {
      problems.push_back(fmt::format("parsing {} Ignition config failed with error: {}", file.name, *problem));
    } else {
      problems.emplace_back(file.why_missing);
    }
  }
  if (problems.empty()) return templates;
  constexpr std::string_view kIntent = "could not generate old container runtime configs";
  if (problems.size() == 1) return Invalid(fmt::format("{}: {}", kIntent, problems[0]));
  return Invalid(fmt::format("{}: [{}]", kIntent, fmt::join(problems, ", ")));
}

Error RuntimeTemplatesFailed(const Error& error) {
  return Invalid("generateMachineConfigsforRole failed with error " + error.message());
}

Result<RuntimeTemplates> RuntimeTemplatesFor(PoolTemplates& templates, const std::string& pool) {
  const auto configs = templates.For(pool);
  return configs ? FindRuntimeTemplates(*configs) : RuntimeTemplatesFailed(configs.error());
}

}  // namespace pintle::generated
