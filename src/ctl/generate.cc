// SPDX-License-Identifier: Apache-2.0
#include "ctl/generate.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/output.h"
#include "base/version.h"
#include "controller/default_pools.h"
#include "controller/trial_cluster.h"
#include "ctl/faults.h"
#include "ctl/generate_input.h"
#include "ctl/generated_output.h"
#include "ctl/verbs.h"
#include "generated/bootstrap.h"
#include "gotext/quote.h"
#include "json/field_list.h"
#include "json/fields.h"
#include "machineconfig/objects.h"

namespace pintle::ctl {
namespace {

using generated::MadeFrom;

struct GenerateQuestion {
  std::string templates_folder;
  std::vector<std::string> inputs;
  std::optional<std::string> pull_secret_file;
  generated::MadeFromFilter only;
  // If this is empty, the configs get the version of the controller that generated the inputs, or Pintle's own version
  // if no input names a controller.  With --bootstrap, an empty value always means Pintle's own version.
  std::string controller_version;
};

struct GenerateAnswer {
  std::vector<generated::MachineConfig> configs;
  std::vector<std::string> problems;  // The reasons why some configs are not made.
};

void PrintNote(std::string_view note) { PrintToStderr(fmt::format("pintle: generate: {}\n", note)); }

// Returns the source that a value of --only names.
MadeFrom SourceNamed(std::string_view name) {
  if (name == "templates") return MadeFrom::kTemplates;
  if (name == "images") return MadeFrom::kImages;
  if (name == "runtime") return MadeFrom::kRuntimeConfigs;
  if (name == "features") return MadeFrom::kFeatureGate;
  return name == "node" ? MadeFrom::kNodeSettings : MadeFrom::kKubeletConfigs;
}

// Returns the Secret in the file of --pull-secret, or else a Secret without credentials.
Result<json::Value> SecretFor(const GenerateQuestion& question) {
  if (question.pull_secret_file) return ReadPullSecretFile(*question.pull_secret_file);
  PrintNote("there is no pull secret, so the configs have an empty one; name yours with --pull-secret");
  return EmptyPullSecret();
}

// Makes the configs in a cluster in memory, whose controllers run until they have nothing to write.
class ControllersPreview {
 public:
  explicit ControllersPreview(const GenerateQuestion& question) : question_(question) {}

  Result<GenerateAnswer> Make(std::vector<Manifest> manifests, const generated::TemplateFolder& templates) && {
    Faults faults;
    for (Manifest& manifest : manifests) {
      if (auto put = Put(std::move(manifest)); !put) faults.Collect(std::vector{std::move(put).error()});
    }
    if (!faults.is_empty()) return std::move(faults).All();
    if (cluster_.Find(api::ControllerConfig::kKind, "", api::kControllerConfigName) == nullptr) {
      return Error(ErrorKind::kInvalid,
                   fmt::format("{}: there is no ControllerConfig {}, from which all configs get their values; add it",
                               fmt::join(question_.inputs, ", "), api::kControllerConfigName));
    }
    if (question_.only.Has(MadeFrom::kTemplates)) TRY(PutPullSecret());
    PutPools();
    PrintNotesOnMissingObjects();
    controller::TrialOutcome outcome =
        TRY(cluster_.Settle({.templates = &templates,
                             .versions = {.controller = question_.controller_version, .operator_version = ""},
                             .now = std::chrono::floor<std::chrono::seconds>(SystemClock().Wall()),
                             .only = question_.only}));
    return AnswerFrom(std::move(outcome));
  }

 private:
  Result<> Put(Manifest manifest) {
    const controller::TrialKind* const kind = controller::FindTrialKind(manifest.object);
    if (kind == nullptr) return {};
    const std::string place = PlaceOf(manifest);
    const std::string& name = manifest.object.TextAt({"metadata", "name"});
    if (name.empty()) {
      return Error(ErrorKind::kInvalid, fmt::format("{}: has no name; set metadata.name", place));
    }
    TRY(kind->check(manifest.object), place);
    // A status that the controllers have written earlier must not be taken for a result of this run.
    if (controller::IsReportedOn(manifest.object)) manifest.object.Erase("status");
    const std::string key = fmt::format("{} {}", kind->resource.kind, controller::FullNameOf(manifest.object));
    const bool is_new = files_.insert_or_assign(key, manifest.file).second;
    if (!is_new) PrintNote(fmt::format("{} replaces an object of the same name", place));
    cluster_.Put(std::move(manifest.object));
    return {};
  }

  // Adds the pull secret under the name that the ControllerConfig has for it, or else under the usual name.  A Secret
  // of this name among the manifests is replaced only if --pull-secret is given.
  Result<> PutPullSecret() {
    json::Value config = *cluster_.Find(api::ControllerConfig::kKind, "", api::kControllerConfigName);
    json::Value& spec = config["spec"];
    if (!spec.is_object()) return {};
    const bool has_name = !spec.TextAt({"pullSecret", "name"}).empty();
    if (!has_name) spec["pullSecret"] = {{"namespace", "openshift-config"}, {"name", "pull-secret"}};
    const std::string namespace_name = spec.TextAt({"pullSecret", "namespace"});
    const std::string name = spec.TextAt({"pullSecret", "name"});
    if (!has_name) cluster_.Put(std::move(config));
    const bool exists = cluster_.Find("Secret", namespace_name, name) != nullptr;
    if (exists && !question_.pull_secret_file) return {};
    json::Value secret = TRY(SecretFor(question_));
    secret["metadata"] = {{"namespace", namespace_name}, {"name", name}};
    cluster_.Put(std::move(secret));
    return {};
  }

  // Adds the pools that every cluster has, if the manifests have no pools.
  void PutPools() {
    if (cluster_.Has(kPoolKind) || question_.only.Is(MadeFrom::kTemplates)) return;
    std::vector<std::string> names;
    const controller::TrialObjects objects = cluster_.Look();
    for (const api::MachineConfigPool& pool : controller::MissingPools(objects.view)) {
      names.push_back(pool.metadata.name);
      json::Value document = json::Encode(pool);
      document["kind"] = kPoolKind;
      cluster_.Put(std::move(document));
    }
    PrintNote(fmt::format("there are no MachineConfigPools, so those that every cluster has are assumed: {}",
                          fmt::join(names, ", ")));
  }

  void PrintNotesOnMissingObjects() const {
    const controller::TrialObjects objects = cluster_.Look();
    const controller::SourcesView& sources = objects.sources;
    const auto note = [&](MadeFrom from, bool exists, std::string_view text) {
      if (!exists && question_.only.Has(from)) PrintNote(text);
    };
    note(MadeFrom::kFeatureGate, sources.feature_gate != nullptr,
         "there is no FeatureGate named cluster, so there are no 98- configs, and no feature is on or off");
    note(MadeFrom::kNodeSettings, sources.node_settings != nullptr,
         "there is no Node named cluster of config.openshift.io, so there are no 97- configs");
    const bool is_mirrored = sources.image != nullptr || !sources.Mirrors().is_empty();
    note(MadeFrom::kImages, !is_mirrored || sources.image != nullptr,
         "there is no Image named cluster of config.openshift.io, so registries are not configured");
    note(MadeFrom::kImages, !is_mirrored || sources.cluster_version != nullptr,
         "there is no ClusterVersion named version, so registries are not configured");
  }

  GenerateAnswer AnswerFrom(controller::TrialOutcome outcome) const {
    GenerateAnswer answer;
    for (controller::TrialOutcome::Config& made : outcome.configs) answer.configs.push_back(std::move(made.config));
    std::stable_sort(answer.configs.begin(), answer.configs.end(),
                     [](const auto& a, const auto& b) { return a.name < b.name; });
    for (const controller::ObjectProblem& problem : cluster_.Problems()) {
      const std::string object = fmt::format("{} {}", problem.kind, problem.name);
      const auto file = files_.find(object);
      answer.problems.push_back(
          fmt::format("{}{}: {}", file == files_.end() ? "" : file->second + ": ", object, problem.message));
    }
    for (const controller::GenerateProblem& problem : outcome.problems) {
      std::string text = fmt::format("{}: {}", problem.what, problem.why);
      if (problem.is_warning) {
        PrintNote(text);
      } else {
        answer.problems.push_back(std::move(text));
      }
    }
    return answer;
  }

  static constexpr const char* kPoolKind = "MachineConfigPool";

  const GenerateQuestion& question_;
  controller::TrialCluster cluster_;
  std::map<std::string, std::string> files_;  // The file of each object, by "KIND NAME" or "KIND NAMESPACE/NAME".
};

Result<generated::Manifests> ManifestsOf(std::vector<Manifest> read) {
  generated::Manifests manifests;
  Faults faults;
  for (Manifest& manifest : read) {
    const std::string place = PlaceOf(manifest);
    auto added = generated::AddManifest(std::move(manifest.object), manifest.file, manifests);
    if (!added) faults.Collect(std::vector{std::move(added).error().While(place)});
  }
  if (!faults.is_empty()) return std::move(faults).All();
  return manifests;
}

// Returns an error, in the words of the Machine Config Operator, if a manifest is missing that every installation has.
Result<> CheckIsComplete(const generated::Manifests& manifests, const GenerateQuestion& question) {
  const auto missing = [&](std::string_view what) {
    return Error(ErrorKind::kInvalid, fmt::format("error: no {} found in dir: {}", what,
                                                  gotext::Quoted(fmt::format("{}", fmt::join(question.inputs, ", ")))));
  };
  if (!manifests.controller_config) return missing("controllerconfig");
  if (!manifests.feature_gate && !question.only.Is(MadeFrom::kTemplates)) return missing("featuregate");
  return {};
}

// Makes the configs that an installation would make.  Errors of manifests are reported all at once; after that, this
// function ends at the first error, as an installation does.
Result<GenerateAnswer> MakeAtBootstrap(const GenerateQuestion& question, std::vector<Manifest> read,
                                       const generated::TemplateFolder& templates) {
  const generated::Manifests manifests = TRY(ManifestsOf(std::move(read)));
  TRY(CheckIsComplete(manifests, question));
  generated::BootstrapSettings settings;
  settings.only = question.only;
  if (question.only.Has(MadeFrom::kTemplates)) settings.pull_secret = TRY(CredentialsIn(TRY(SecretFor(question))));
  settings.controller_version =
      question.controller_version.empty() ? std::string(kVersion) : question.controller_version;
  settings.release = generated::ReleaseOf(*manifests.controller_config);
  if (question.only.sources.empty()) TRY(generated::CheckKubeletAndRuntimeConfigs(manifests));
  for (const std::string& message : manifests.without_effect) PrintNote(message);
  generated::BootstrapConfigs made = TRY(generated::ConfigsAtBootstrap(manifests, templates, settings));
  for (const std::string& complaint : made.complaints) PrintNote(complaint);
  return GenerateAnswer{.configs = std::move(made.configs), .problems = {}};
}

Result<GenerateQuestion> GenerateQuestionOf(const CommandLine& line) {
  if (!line.operands().empty()) {
    return Error(ErrorKind::kInvalid,
                 fmt::format("{}: name the manifests with --from (see --help)", line.operands()[0]));
  }
  GenerateQuestion question;
  question.templates_folder = TRY(line.Needed("--templates"));
  TRY(line.Needed("--from"));
  question.inputs = line.Values("--from");
  question.pull_secret_file = line.Value(kPullSecretOption.name);
  for (const std::string& name : line.Values("--only")) question.only.sources.insert(SourceNamed(name));
  question.controller_version = line.Value("--controller-version").value_or("");
  return question;
}

}  // namespace

Result<ExitStatus> Generate(const CommandLine& line) {
  const GenerateQuestion question = TRY(GenerateQuestionOf(line));
  Faults faults;
  auto templates = faults.Collect(generated::TemplateFolder::Read(question.templates_folder));
  ManifestFiles read = ReadManifestFiles(question.inputs, question.pull_secret_file);
  for (const std::string& entry : read.left_out) PrintNote("left out: " + entry);
  faults.Collect(std::move(read.faults));
  if (!faults.is_empty()) return std::move(faults).All();
  // From templates without the folder of a role, the Machine Config Operator makes no configs, and reports nothing.
  if (const Result<> checked = templates->CheckHasRole(); !checked) PrintNote(checked.error().message());
  const GenerateAnswer answer =
      TRY(line.Has("--bootstrap") ? MakeAtBootstrap(question, std::move(read.manifests), *templates)
                                  : ControllersPreview(question).Make(std::move(read.manifests), *templates));
  for (const std::string& problem : answer.problems) PrintNote(problem);
  TRY(PrintGenerated(answer.configs, GeneratedFormNamed(line.Value("-o").value_or("yaml"))));
  return answer.problems.empty() ? ExitStatus::kSuccess : ExitStatus::kFailure;
}

}  // namespace pintle::ctl
