// SPDX-License-Identifier: Apache-2.0
#include "generated/read_back.h"

#include <algorithm>
#include <vector>

#include "json/go_json.h"
#include "json/parse.h"
#include "json/report.h"
#include "machineconfig/contents.h"
#include "machineconfig/ignition_part.h"

namespace pintle::generated {
namespace {

std::optional<std::string> ContentsIn(const MachineConfig& config, std::string_view path) {
  // Parsing a config takes long, and most configs do not have the file: search their texts first.
  if (config.config.find(json::GoJson(path)) == std::string::npos) return {};
  json::Report report;
  const Result<ignition::Config> parsed = ignition::Parse(config.config, report);
  if (!parsed) return {};
  const auto& files = parsed->storage.files;
  const auto file = std::find_if(files.begin(), files.end(), [&](const ignition::File& f) { return f.path == path; });
  if (file == files.end() || !file->contents.source) return {};
  Result<std::string> contents = machineconfig::ContentsOf(file->contents, machineconfig::kParsedContentsLimit);
  return contents ? std::optional(*std::move(contents)) : std::nullopt;
}

std::vector<const MachineConfig*> SortedByName(std::span<const MachineConfig> configs) {
  std::vector<const MachineConfig*> by_name;
  for (const MachineConfig& config : configs) by_name.push_back(&config);
  std::stable_sort(by_name.begin(), by_name.end(), [](const auto* a, const auto* b) { return a->name < b->name; });
  return by_name;
}

}  // namespace

std::optional<std::string> ContentsOfFile(std::span<const MachineConfig> configs, std::string_view path) {
  for (const MachineConfig* config : SortedByName(configs)) {
    if (auto contents = ContentsIn(*config, path)) return contents;
  }
  return {};
}

std::optional<std::string> ParseProblemOfLast(std::span<const MachineConfig> configs) {
  if (configs.empty()) return {};
  json::Report report;
  const auto last = ignition::Parse(SortedByName(configs).back()->config, report);
  return last ? std::nullopt : std::optional(machineconfig::ParseErrorText(last.error()));
}

}  // namespace pintle::generated
