// SPDX-License-Identifier: Apache-2.0
#include "generated/runtime_templates.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <array>
#include <string_view>
#include <utility>
#include <vector>

#include "generated/read_back.h"

namespace pintle::generated {
namespace {

struct RequiredFile {
  std::string_view path;
  std::string RuntimeTemplates::*contents;
  std::string_view problem;
};

constexpr auto kRequiredFiles = std::to_array<RequiredFile>({
    {"/etc/containers/storage.conf", &RuntimeTemplates::storage_conf, "could not find Storage Config"},
    {"/etc/containers/registries.conf", &RuntimeTemplates::registries_conf, "could not find Registries Config"},
    {"/etc/containers/policy.json", &RuntimeTemplates::policy_json, "could not find Policy JSON"},
});

}  // namespace

Result<RuntimeTemplates> FindRuntimeTemplates(std::span<const MachineConfig> configs) {
  RuntimeTemplates templates;
  std::vector<std::string_view> problems;
  for (const RequiredFile& file : kRequiredFiles) {
    if (auto contents = ContentsOfFile(configs, file.path)) {
      templates.*file.contents = *std::move(contents);
    } else {
      problems.push_back(file.problem);
    }
  }
  if (problems.empty()) return templates;
  constexpr std::string_view kIntent = "could not generate old container runtime configs";
  if (problems.size() == 1) return Error(ErrorKind::kInvalid, fmt::format("{}: {}", kIntent, problems[0]));
  return Error(ErrorKind::kInvalid, fmt::format("{}: [{}]", kIntent, fmt::join(problems, ", ")));
}

}  // namespace pintle::generated
