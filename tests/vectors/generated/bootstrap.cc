// SPDX-License-Identifier: Apache-2.0

// Compares the part of an installation that concerns kubelets: the files and kernel arguments in rendered configs that
// come from kubelets' configs, the names of these configs among the sources of each pool, and errors.  Other programs
// make the rest of a rendered config.

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <exception>
#include <filesystem>
#include <map>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "generated/kubelet_bootstrap.h"
#include "ignition/config.h"
#include "ignition/data_url.h"
#include "vectors/generated/case_files.h"
#include "vectors/generated/kinds.h"
#include "vectors/generated/kubelet_input.h"

namespace pintle::vectors {
namespace {

constexpr std::string_view kKubeletFiles[] = {
    generated::kKubeletConfPath,
    "/etc/node-sizing-enabled.env",
    "/etc/systemd/system/kubelet.service.d/20-logging.conf",
};

using Files = std::map<std::string, std::string>;

struct Part {
  Files files;
  std::vector<std::string> kernel_arguments;
};

KubeletInput InputOf(const std::filesystem::path& folder, const RoleTemplates& templates) {
  std::vector<json::Value> documents;
  for (const std::string& name : NamesIn(folder / "manifests")) {
    for (json::Value& document : DocumentsOf(folder / "manifests" / name)) documents.push_back(std::move(document));
  }
  KubeletInput input = ReadKubeletInput({}, documents);
  input.templates = &templates;
  return input;
}

// In the order of the operator.
Result<std::vector<generated::MachineConfig>> ConfigsOf(const KubeletInput& input) {
  const generated::KubeletSettings settings = TRY(SettingsOf(input), "error creating feature gates handler");
  const generated::TemplatesFor templates = TemplatesOf(input);
  std::vector<generated::MachineConfig> configs = TRY(BootstrapFeatureConfigs(input.pools, templates, settings));
  for (auto& config : TRY(BootstrapNodeConfigs(input.pools, templates, settings))) configs.push_back(std::move(config));
  for (auto& config : TRY(BootstrapKubeletConfigs(input.kubelet_configs, input.pools, templates, settings))) {
    configs.push_back(std::move(config));
  }
  return configs;
}

void AddFiles(json::Value ignition_config, Files& files) {
  json::Report report;
  const auto config = ignition::Parse(std::move(ignition_config), report);
  if (!config) throw std::runtime_error(config.error().message());
  for (const ignition::File& file : config->storage.files) {
    if (std::find(std::begin(kKubeletFiles), std::end(kKubeletFiles), file.path) == std::end(kKubeletFiles)) continue;
    files[file.path] = *ignition::DecodeDataUrl(file.contents.source.value_or("data:,"));
  }
}

// Merges the configs of a pool; the last one by name wins.
Part Made(std::vector<generated::MachineConfig> configs, const std::string& role) {
  std::erase_if(configs, [&](const auto& config) { return config.role != role; });
  std::sort(configs.begin(), configs.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
  Part part;
  for (const generated::MachineConfig& config : configs) {
    AddFiles(*json::Parse(config.config), part.files);
    if (config.kernel_arguments) part.kernel_arguments = *config.kernel_arguments;
  }
  return part;
}

json::Value RenderedOf(const std::filesystem::path& out, const json::Value& pool) {
  return DocumentsOf(out / "machine-configs" / (pool.TextAt({"spec", "configuration", "name"}) + ".yaml")).at(0);
}

std::string DifferenceOf(const Part& made, const json::Value& rendered) {
  Files expected;
  AddFiles(rendered.at("spec").at("config"), expected);
  for (const std::string_view path : kKubeletFiles) {
    const auto e = expected.find(std::string(path));
    const auto m = made.files.find(std::string(path));
    const bool is_same = e == expected.end() ? m == made.files.end() : m != made.files.end() && e->second == m->second;
    if (!is_same) return fmt::format("{} differs", path);
  }
  for (const std::string& argument : made.kernel_arguments) {
    const json::Value& arguments = rendered.at("spec").at("kernelArguments");
    if (std::find(arguments.begin(), arguments.end(), json::Value(argument)) == arguments.end())
      return "no " + argument;
  }
  return "";
}

std::set<std::string> KubeletSources(const json::Value& pool) {
  std::set<std::string> names;
  for (const json::Value& source : *pool.Find({"spec", "configuration", "source"})) {
    const std::string& name = source.at("name").text();
    if (name.find("generated-kubelet") != std::string::npos) names.insert(name);
  }
  return names;
}

std::string DifferenceIn(const std::filesystem::path& out, const std::vector<generated::MachineConfig>& configs) {
  std::set<std::string> names;
  for (const generated::MachineConfig& config : configs) names.insert(config.name);
  for (const std::string& file : NamesIn(out / "machine-pools")) {
    const json::Value pool = DocumentsOf(out / "machine-pools" / file).at(0);
    const std::string& role = pool.TextAt({"metadata", "name"});
    if (KubeletSources(pool) != names) return fmt::format("{}: other sources than {}", role, fmt::join(names, " "));
    const std::string difference = DifferenceOf(Made(configs, role), RenderedOf(out, pool));
    if (!difference.empty()) return fmt::format("{}: {}", role, difference);
  }
  return "";
}

std::string DifferenceOfCase(const std::filesystem::path& folder, const RoleTemplates& templates) {
  const KubeletInput input = InputOf(folder, templates);
  const auto configs = ConfigsOf(input);
  const auto error = folder / "out" / "error.txt";
  const std::string expected = std::filesystem::exists(error) ? TextOf(error) : "";
  if (!configs || !expected.empty()) return DifferenceOfTexts(expected, configs ? "" : configs.error().message());
  return DifferenceIn(folder / "out", *configs);
}

// Returns whether the operator ended before it reached the kubelets, because a manifest is missing.
bool LacksManifest(const std::filesystem::path& folder) {
  const auto error = folder / "out" / "error.txt";
  return std::filesystem::exists(error) && TextOf(error).starts_with("error: no ");
}

}  // namespace

Tally RunBootstrap(const std::filesystem::path& folder) {
  Tally tally("bootstrap, kubelets alone");
  const RoleTemplates templates("own-templates-bootstrap");
  for (const std::string& name : NamesIn(folder)) {
    if (LacksManifest(folder / name)) continue;
    try {
      tally.Add(name, DifferenceOfCase(folder / name, templates));
    } catch (const std::exception& e) {
      tally.Add(name, e.what());
    }
  }
  return tally;
}

}  // namespace pintle::vectors
