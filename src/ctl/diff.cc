// SPDX-License-Identifier: Apache-2.0
#include "ctl/diff.h"

#include <fmt/core.h>

#include <filesystem>
#include <optional>
#include <utility>
#include <vector>

#include "base/output.h"
#include "base/printable.h"
#include "ctl/colour.h"
#include "ctl/config_preview.h"
#include "ctl/config_problems.h"
#include "ctl/plan_text.h"
#include "ctl/policy.h"
#include "ctl/verbs.h"
#include "ignition/butane.h"
#include "ignition/config.h"
#include "machineconfig/config_input.h"
#include "machineconfig/ignition_part.h"
#include "machineconfig/input.h"
#include "machineconfig/machine_configuration_input.h"
#include "machineconfig/objects.h"
#include "machineconfig/validate.h"
#include "plan/cluster_policy.h"
#include "plan/plan.h"

namespace pintle::ctl {
namespace {

using machineconfig::ParsedConfig;
using plan::Plan;

// Returns the name for a config that has none: the file's name without its last suffix.
std::string NameFor(const std::string& file) { return std::filesystem::path(file).stem(); }

// An object without a kind and without a spec counts as Ignition if it has the field `ignition`.  Every other object
// counts as a MachineConfig.
bool IsIgnition(const json::Value& document) {
  return document.is_object() && document.contains("ignition") && !document.contains("kind") &&
         !document.contains("spec");
}

Result<api::MachineConfig> ReadButane(const std::string& file, json::Value value) {
  machineconfig::ConfigDocument document = machineconfig::ReadButaneDocument(std::move(value));
  for (const ConfigProblem& warning : WarningsOf(file, document.report)) PrintConfigProblem(warning);
  api::MachineConfig object = TRY(machineconfig::ToMachineConfig(std::move(document)), file);
  if (object.metadata.name.empty()) object.metadata.name = NameFor(file);
  return object;
}

Result<api::MachineConfig> ReadConfig(const std::string& file) {
  std::vector<json::Value> documents = TRY(machineconfig::ReadDocuments(file));
  if (documents.size() != 1) {
    return Error(ErrorKind::kInvalid,
                 fmt::format("{}: {} documents where one MachineConfig is needed", file, documents.size()));
  }
  json::Value& document = documents.front();
  if (ignition::IsButane(document)) return ReadButane(file, std::move(document));
  if (IsIgnition(document)) {
    api::MachineConfig object;
    object.metadata.name = NameFor(file);
    object.spec.config = std::move(document);
    return object;
  }
  api::MachineConfig object = TRY(machineconfig::ReadMachineConfig(std::move(document)), file);
  // Many MachineConfigs have only kernel arguments or extensions.
  if (object.spec.config.is_null()) {
    ignition::Config empty;
    empty.ignition.version = ignition::kNewestVersion;
    object.spec.config = ignition::Encode(empty);
  }
  return object;
}

// Adds to the preview that the Ignition part of a config cannot be parsed.  `which` is "old" or "new".
DiffPreview PreviewOfUnreadable(std::string_view which, const api::MachineConfig& from, const api::MachineConfig& to,
                                const Error& error, DiffPreview preview) {
  const api::MachineConfig& config = which == "old" ? from : to;
  const std::string text = machineconfig::UnparsableText(which, config, error);
  preview.answer["diffError"] =
      fmt::format("parsing {} Ignition config failed with error: {}", which, machineconfig::ParseErrorText(error));
  preview.answer["reconcilableError"] = UnreconcilableText(from, to, text);
  preview.error = Error(ErrorKind::kInvalid, UnreconcilableText(from, to, text));
  return preview;
}

// The settings of a cluster's administrator for updates.
struct UpdateSettings {
  api::NodeDisruptionPolicy policy;
  api::IrreconcilableValidationOverrides overrides;
};

Result<> ReadUpdateSettings(const std::optional<std::string>& policy_file,
                            const std::optional<std::string>& overrides_file, UpdateSettings& settings) {
  if (policy_file) settings.policy = TRY(ReadPolicyFile(*policy_file));
  if (overrides_file) settings.overrides = TRY(machineconfig::ReadOverrides(*overrides_file));
  return {};
}

Result<UpdateSettings> UpdateSettingsOf(LiveCluster& cluster) {
  const auto configuration = cluster.Get<api::MachineConfiguration>("cluster");
  if (configuration) {
    return UpdateSettings{.policy = plan::PolicyOf(*configuration),
                          .overrides = configuration->spec.irreconcilable_validation_overrides};
  }
  // The cluster may lack the object, or even its kind.
  if (configuration.error().kind() == ErrorKind::kNotFound) return UpdateSettings();
  return Error(configuration.error()).While("reading the policy of updates");
}

// Returns the names of the old and the new config.  If the command line has two words, these are the names.  One word
// is a pool, whose nodes have the old config and are to have the new one.
Result<std::pair<std::string, std::string>> NamesOf(const CommandLine& line, LiveCluster& cluster) {
  const std::vector<std::string>& words = line.operands();
  if (words.size() == 2) return std::pair(words[0], words[1]);
  const auto pool = TRY(cluster.Get<api::MachineConfigPool>(words[0]), fmt::format("pool {}", words[0]));
  const std::string& current = pool.status.configuration.name;
  const std::string& target = pool.spec.configuration.name;
  if (current.empty() || target.empty()) {
    return Error(ErrorKind::kInvalid, fmt::format("pool {}: nothing was rendered for its nodes yet, or not all of them "
                                                  "have it yet; name two MachineConfigs",
                                                  words[0]));
  }
  return std::pair(current, target);
}

// Returns the configs in the cluster that the command line names.  With --with, returns the config that a pool's nodes
// have and the config that they would get.
Result<ConfigPair> ConfigsOf(const CommandLine& line, LiveCluster& cluster) {
  if (line.Has("--with")) {
    if (line.operands().size() != 1) return Error(ErrorKind::kInvalid, "--with needs one POOL");
    return PreviewConfigs(cluster, line.operands()[0], line.Values("--with"));
  }
  const auto [old_name, new_name] = TRY(NamesOf(line, cluster));
  ConfigPair configs;
  configs.current = TRY(cluster.Get<api::MachineConfig>(old_name), fmt::format("MachineConfig {}", old_name));
  configs.next = TRY(cluster.Get<api::MachineConfig>(new_name), fmt::format("MachineConfig {}", new_name));
  return configs;
}

Result<DiffPreview> PreviewDiffFromCluster(const CommandLine& line) {
  if (line.operands().empty() || line.operands().size() > 2) {
    return Error(ErrorKind::kInvalid, "name two MachineConfigs, or one pool");
  }
  auto cluster = TRY(LiveCluster::Of(line));
  const ConfigPair configs = TRY(ConfigsOf(line, cluster));
  UpdateSettings settings = TRY(UpdateSettingsOf(cluster));
  TRY(ReadUpdateSettings(line.Value("--policy"), line.Value("--overrides"), settings));
  return DiffBetween(configs.current, configs.next, settings.policy, settings.overrides, PrivateLinesFor(line));
}

Result<DiffPreview> PreviewDiffFromFiles(const CommandLine& line) {
  if (line.operands().size() != 2)
    return Error(ErrorKind::kInvalid, "give two files, OLD and NEW; or one POOL, with --kubeconfig FILE (see --help)");
  for (const std::string_view option : {"--context", "--with"}) {
    if (line.Has(option)) return Error(ErrorKind::kInvalid, fmt::format("{} needs --kubeconfig", option));
  }
  return PreviewDiff({
      .old_file = line.operands()[0],
      .new_file = line.operands()[1],
      .policy_file = line.Value("--policy"),
      .overrides_file = line.Value("--overrides"),
      .private_lines = PrivateLinesFor(line),
  });
}

}  // namespace

Result<DiffPreview> PreviewDiff(const DiffQuestion& question) {
  const api::MachineConfig from = TRY(ReadConfig(question.old_file));
  const api::MachineConfig to = TRY(ReadConfig(question.new_file));
  UpdateSettings settings;
  TRY(ReadUpdateSettings(question.policy_file, question.overrides_file, settings));
  return DiffBetween(from, to, settings.policy, settings.overrides, question.private_lines);
}

DiffPreview DiffBetween(const api::MachineConfig& from, const api::MachineConfig& to,
                        const api::NodeDisruptionPolicy& policy,
                        const api::IrreconcilableValidationOverrides& overrides, change::PrivateLines private_lines) {
  DiffPreview preview;
  json::Report report;
  const auto valid = machineconfig::Validate(to, report);
  const auto parsed_from = machineconfig::ParseIgnitionPart(from, report);
  // A config that cannot be converted is an error only when the conversion is needed.
  const bool is_invalid_now = !valid && valid.error().kind() != ErrorKind::kUnconvertible;
  if (is_invalid_now) preview.answer["validateNewError"] = valid.error().message();
  if (!parsed_from) return PreviewOfUnreadable("old", from, to, parsed_from.error(), std::move(preview));
  const auto parsed_to = machineconfig::ParseIgnitionPart(to, report);
  if (!parsed_to) return PreviewOfUnreadable("new", from, to, parsed_to.error(), std::move(preview));

  const ParsedConfig before{from, *parsed_from};
  const ParsedConfig after{to, *parsed_to};
  const Plan plan = plan::Make(before, after, policy, overrides);
  preview.differs = Differ(before, after);
  for (auto& [key, value] : AnswerOf(plan, before, after).members()) preview.answer[key] = std::move(value);
  preview.answer["differs"] = preview.differs;
  if (preview.differs)
    preview.text = ChangesText(plan, before, after, private_lines) + "\n" + ConsequencesText(plan, Drains::kReported);
  if (!valid) preview.text += fmt::format("The new config is not valid: {}\n", Printable(valid.error().message()));
  return preview;
}

Result<ExitStatus> Diff(const CommandLine& line) {
  const Form form = FormOf(line);
  const DiffPreview preview = TRY(line.Has("--kubeconfig") ? PreviewDiffFromCluster(line) : PreviewDiffFromFiles(line));
  if (form == Form::kText) {
    PrintColoured(preview.text, ColourOfDiff);
  } else {
    PrintData(preview.answer, form);
  }
  if (preview.error) return *preview.error;
  return preview.differs ? ExitStatus::kDiffers : ExitStatus::kSuccess;
}

}  // namespace pintle::ctl
