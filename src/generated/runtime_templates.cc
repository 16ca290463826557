// SPDX-License-Identifier: Apache-2.0
#include "generated/runtime_templates.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "json/report.h"
#include "machineconfig/contents.h"

namespace pintle::generated {
namespace {

struct Wanted {
  std::string_view path;
  std::string RuntimeTemplates::*contents;
  std::string_view problem;
};

constexpr auto kWanted = std::to_array<Wanted>({
    {"/etc/containers/storage.conf", &RuntimeTemplates::storage_conf, "could not find Storage Config"},
    {"/etc/containers/registries.conf", &RuntimeTemplates::registries_conf, "could not find Registries Config"},
    {"/etc/containers/policy.json", &RuntimeTemplates::policy_json, "could not find Policy JSON"},
});

std::optional<std::string> ContentsIn(const ignition::Config& config, std::string_view path) {
  const auto& files = config.storage.files;
  const auto file = std::find_if(files.begin(), files.end(), [&](const auto& f) { return f.path == path; });
  if (file == files.end()) return {};
  auto contents = machineconfig::ContentsOf(file->contents, machineconfig::kMostLookedAt);
  if (!contents) return {};
  return *std::move(contents);
}

}  // namespace

Result<RuntimeTemplates> FindRuntimeTemplates(std::span<const MachineConfig> configs) {
  RuntimeTemplates templates;
  std::array<bool, kWanted.size()> is_found{};
  for (const MachineConfig& made : configs) {
    json::Report report;
    const auto config = ignition::Parse(made.config, report);
    if (!config) continue;  // The operator takes its files for missing, too.
    for (std::size_t i = 0; i < kWanted.size(); ++i) {
      if (is_found[i]) continue;
      auto contents = ContentsIn(*config, kWanted[i].path);
      if (!contents) continue;
      templates.*kWanted[i].contents = *std::move(contents);
      is_found[i] = true;
    }
  }
  std::vector<std::string_view> problems;
  for (std::size_t i = 0; i < kWanted.size(); ++i) {
    if (!is_found[i]) problems.push_back(kWanted[i].problem);
  }
  if (problems.empty()) return templates;
  constexpr std::string_view kWhat = "could not generate old container runtime configs";
  if (problems.size() == 1) return Error(ErrorKind::kInvalid, fmt::format("{}: {}", kWhat, problems[0]));
  return Error(ErrorKind::kInvalid, fmt::format("{}: [{}]", kWhat, fmt::join(problems, ", ")));
}

}  // namespace pintle::generated
