// SPDX-License-Identifier: Apache-2.0
#include "change/local_configs.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <map>
#include <string_view>
#include <system_error>
#include <utility>

#include "base/size_limits.h"
#include "base/version.h"
#include "change/private_lines.h"
#include "change/warnings.h"
#include "machineconfig/ignition_part.h"
#include "machineconfig/input.h"
#include "machineconfig/remedy.h"
#include "machineconfig/render.h"

namespace pintle::change {
namespace {

namespace fs = std::filesystem;

// Returns a name for a config that has none.  It is made from the name of its file, and from the index of its document
// in that file if there are several.
std::string NameFrom(const std::string& file, std::size_t index, std::size_t count) {
  const std::string stem = file == "-" ? "stdin" : fs::path(file).stem().string();
  return count == 1 ? stem : fmt::format("{}-{}", stem, index + 1);
}

// Returns an error if a document cannot be used; it names all problems of its contents, and their remedies.
Result<> Check(const machineconfig::ConfigDocument& document) {
  std::string problems;
  for (const json::Problem& problem : document.report.problems()) {
    if (problem.severity != json::Severity::kError) continue;
    const std::string_view remedy = machineconfig::RemedyForConfigProblem(problem.what);
    problems += fmt::format("{}{}", problems.empty() ? "" : "; ", problem.ToString());
    if (!remedy.empty()) problems += fmt::format(" ({})", remedy);
  }
  if (!problems.empty()) return Error(ErrorKind::kInvalid, std::move(problems));
  if (document.error) return *document.error;
  if (document.refusal_by_machines) return *document.refusal_by_machines;
  if (document.config && RefersToOtherConfigs(*document.config)) {
    return Error(ErrorKind::kInvalid, fmt::format("ignition.config: {}", kOtherConfigsAreNotFetched));
  }
  return {};
}

WrittenConfig MakeWrittenConfig(machineconfig::ConfigDocument document, std::string file, std::string name) {
  WrittenConfig config;
  config.file = std::move(file);
  if (document.object) config.object = *std::move(document.object);
  if (document.config) {
    config.ignition = *std::move(document.config);
  } else {
    config.ignition.ignition.version = ignition::kNewestVersion;
  }
  if (config.object.spec.config.is_null()) config.object.spec.config = ignition::Encode(config.ignition);
  if (config.object.metadata.name.empty()) config.object.metadata.name = std::move(name);
  config.object.metadata.labels.try_emplace(std::string(api::kRoleLabel), kLocalPool);
  return config;
}

// All configs are in memory at the same time, so one limit applies to the sum of their sizes.  `left` is the part of
// the limit that is not used up.
Result<machineconfig::ConfigFile> ReadFile(const machineconfig::InputFile& input, std::size_t& left) {
  auto read = machineconfig::ReadConfigFile(input.path, input.accepts, left);
  std::error_code unknown;
  const bool is_too_much = std::filesystem::file_size(input.path, unknown) > left && !unknown;
  if (!read && is_too_much && left < limits::kLocalConfigs) {
    return std::move(read).error().While(
        fmt::format("after other configs, which together may have {} bytes", limits::kLocalConfigs));
  }
  if (read) left -= std::min(left, read->size);
  return read;
}

Result<> AddFile(const machineconfig::InputFile& input, std::size_t& left, std::vector<WrittenConfig>& configs) {
  const std::string& file = input.path;
  machineconfig::ConfigFile read = TRY(ReadFile(input, left));
  TRY(read.report.ToResult(), file);
  const std::size_t count = read.documents.size();
  for (std::size_t i = 0; i < count; ++i) {
    TRY(Check(read.documents[i]), file);
    configs.push_back(MakeWrittenConfig(std::move(read.documents[i]), file, NameFrom(file, i, count)));
  }
  return {};
}

Result<> ExpectUniqueNames(const std::vector<WrittenConfig>& configs) {
  std::map<std::string_view, std::string_view> files;
  for (const WrittenConfig& config : configs) {
    const auto [earlier, is_new] = files.emplace(config.object.metadata.name, config.file);
    if (is_new) continue;
    return Error(ErrorKind::kInvalid, fmt::format("{} and {} have the same name, {}; one of them needs another",
                                                  earlier->second, config.file, earlier->first));
  }
  return {};
}

// Lists the configs that each path, unit and user comes from, in the order of merging.
machineconfig::Writers WritersOf(const machineconfig::Rendered& rendered, std::vector<WrittenConfig> configs) {
  std::map<std::string_view, ignition::Config*> parts;
  for (WrittenConfig& config : configs) parts.emplace(config.object.metadata.name, &config.ignition);
  std::vector<machineconfig::NamedConfig> sources;
  for (const api::ObjectReference& reference : rendered.source) {
    sources.push_back({reference.name, std::move(*parts.at(reference.name))});
  }
  return machineconfig::WritersOf(sources);
}

}  // namespace

Result<WrittenConfigs> ReadWrittenConfigs(std::span<const std::string> inputs) {
  WrittenConfigs written;
  auto named =
      machineconfig::FilesNamedBy(inputs, machineconfig::kConfigEndings, machineconfig::EmptyDirectory::kAllowed);
  if (!named.faults.empty()) return std::move(named.faults.front());
  std::size_t left = limits::kLocalConfigs;
  for (const machineconfig::InputFile& file : named.files) TRY(AddFile(file, left, written.configs));
  TRY(ExpectUniqueNames(written.configs));
  written.left_out = std::move(named.left_out);
  written.others = std::move(named.others);
  return written;
}

std::string WhyNotConfig(const std::string& path) {
  return fmt::format("{}: its name ends in none of {}", path, fmt::join(machineconfig::kConfigEndings, ", "));
}

bool IsConfigName(std::string_view name) { return machineconfig::IsWantedName(name, machineconfig::kConfigEndings); }

std::optional<std::string> SecretIn(const ignition::Config& config) {
  for (const auto& user : config.passwd.users) {
    if (!user.password_hash.value_or("").empty()) return "the password of " + user.name;
  }
  for (const auto& file : config.storage.files) {
    if (IsPrivate(file) && !file.contents.source.value_or("").empty()) return "the contents of " + file.path;
  }
  return std::nullopt;
}

Result<CurrentConfig> RenderLocally(std::vector<WrittenConfig> configs) {
  if (configs.empty()) return EmptyCurrentConfig();
  api::MachineConfigPool pool;
  pool.metadata.name = kLocalPool;
  api::ControllerConfig controller;
  controller.metadata.annotations.emplace(api::kGeneratedByVersionAnnotation, kVersion);
  machineconfig::MachineConfigs objects;
  for (const WrittenConfig& config : configs) objects.push_back(&config.object);
  machineconfig::Rendered rendered = TRY(machineconfig::Render(
      pool, std::move(objects), {.controller_config = controller, .controller_version = std::string(kVersion)}));

  CurrentConfig result;
  result.writers = WritersOf(rendered, std::move(configs));
  result.object = std::move(rendered.config);
  json::Report report;
  result.ignition = TRY(machineconfig::ParseIgnitionPart(result.object, report));
  return result;
}

}  // namespace pintle::change
