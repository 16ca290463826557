// SPDX-License-Identifier: Apache-2.0
#include "controller/takeover_check.h"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstddef>
#include <iterator>
#include <string_view>
#include <utility>

#include "api/annotations.h"
#include "base/command_line.h"
#include "base/version.h"
#include "controller/default_pools.h"
#include "controller/operator_kinds.h"
#include "controller/pool_members.h"
#include "controller/rollout_pass.h"
#include "controller/start_options.h"
#include "controller/takeover_daemons.h"
#include "controller/takeover_generated.h"
#include "controller/takeover_leases.h"
#include "controller/takeover_pods.h"
#include "controller/takeover_record.h"
#include "controller/takeover_server.h"
#include "pool/status.h"

namespace pintle::controller {
namespace {

// Returns the options with which a Deployment starts Pintle's controller; nullopt if it does not start the controller,
// or if the options cannot be parsed.
std::optional<CommandLine> StartLineOf(const WholeDeployment& deployment) {
  const json::Value* const containers = deployment.spec.Find({"template", "spec", "containers"});
  if (containers == nullptr) return std::nullopt;
  for (const json::Value& container : *containers) {
    std::vector<std::string> words;
    for (const char* part : {"command", "args"}) {
      for (const json::Value& word : container[part]) {
        if (word.is_string()) words.push_back(word.text());
      }
    }
    const auto verb = std::find(words.begin(), words.end(), "start");
    if (verb == words.end()) continue;
    const std::vector<std::string_view> options(verb + 1, words.end());
    auto line = CommandLine::Parse(KnownStartOptions(), options);
    if (line) return *std::move(line);
  }
  return std::nullopt;
}

// Returns whether the candidates of a release of the operator leave a lease alone for the duration that its holder has
// written.  Those of older releases, which have a client library before Kubernetes 1.27, leave it alone for a time of
// their own.  Returns false if the release is not known.
bool HeedsWrittenDurations(std::string_view release) {
  constexpr std::pair<int, int> kFirst = {4, 14};
  std::pair<int, int> version;
  const char* const end = release.data() + release.size();
  const char* const dot = std::from_chars(release.data(), end, version.first).ptr;
  if (dot != end && *dot == '.') std::from_chars(dot + 1, end, version.second);
  return version >= kFirst;
}

class TakeoverChecker {
 public:
  TakeoverChecker(const TakeoverEvidence& evidence, const TakeoverSettings& settings, WallTime now)
      : evidence_(evidence), view_(evidence.view), state_(evidence.state), settings_(settings), now_(now) {
    if (state_.ours) start_line_ = StartLineOf(*state_.ours);
    if (start_line_) options_ = ReadRenderOptions(*start_line_);
  }

  std::vector<TakeoverFinding> Check() && {
    NoteVersions();
    Append(FindingsAbout(evidence_.lacking, evidence_.account_lacking, evidence_.agents_lacking, settings_));
    CheckReadable();
    CheckControllerConfig();
    CheckGenerated();
    CheckPools();
    CheckNodes();
    CheckReplicas();
    NoteOverlap();
    CheckAgents();
    CheckFeatures();
    if (state_.cluster_version) {
      Add(Weight::kLoss,
          "while the ClusterVersion has an override, the cluster gets no new minor version (Upgradeable is False)");
    }
    return std::move(findings_);
  }

 private:
  void Add(Weight weight, std::string text) { findings_.push_back({weight, std::move(text)}); }

  void Append(std::vector<TakeoverFinding> findings) {
    std::move(findings.begin(), findings.end(), std::back_inserter(findings_));
  }

  // Returns the release of the Machine Config Operator that the ClusterOperator reports, or "".
  std::string ReportedRelease() const {
    if (!evidence_.cluster_operator) return "";
    for (const api::OperandVersion& operand : evidence_.cluster_operator->status.versions) {
      if (operand.name == "operator") return operand.version;
    }
    return "";
  }

  void NoteVersions() {
    const auto or_unknown = [](const std::string& version) { return version.empty() ? "unknown" : version; };
    const std::string reported = ReportedRelease();
    const api::ControllerConfig* const config = view_.controller_config;
    const auto annotation = [&](std::string_view key) {
      return or_unknown(config == nullptr ? "" : config->metadata.Annotation(key));
    };
    Add(Weight::kInformation, fmt::format("Pintle is of version {}", kVersion));
    Add(Weight::kInformation, fmt::format("the Machine Config Operator is of version {}; its release is {} in the "
                                          "ControllerConfig and {} in the ClusterOperator",
                                          annotation(api::kGeneratedByVersionAnnotation),
                                          annotation(api::kReleaseImageVersionAnnotation), or_unknown(reported)));
  }

  // Checks whether all objects exist and can be read.  Objects that cannot be read are listed first, because they may
  // be the cause of other findings.
  void CheckReadable() {
    for (std::string& text : TextsAbout(evidence_.unreadable)) Add(Weight::kObstacle, std::move(text));
    if (view_.controller_config == nullptr && !IsControllerConfigUnreadable()) {
      Add(Weight::kObstacle, "there is no ControllerConfig");
    }
    for (const api::MachineConfigPool& pool : MissingPools(view_)) {
      Add(Weight::kObstacle, fmt::format("pool {} does not exist and would be created", pool.metadata.name));
    }
  }

  bool IsControllerConfigUnreadable() const {
    return std::any_of(evidence_.unreadable.begin(), evidence_.unreadable.end(), [](const UnreadableObject& object) {
      return object.kind.plural == kube::kResourceKind<api::ControllerConfig>.plural &&
             object.name.name == api::kControllerConfigName;
    });
  }

  // Makes the ControllerConfig as Pintle would, and compares its fields.
  void CheckControllerConfig() {
    // In the comparison, an object that cannot be read would count as a missing object.
    if (!evidence_.are_sources_readable) {
      return Add(Weight::kInformation,
                 "the ControllerConfig was not compared with the one that Pintle would make, because it is made from "
                 "objects that cannot be read; correct them and run the same command again");
    }
    if (evidence_.sources == nullptr || evidence_.controller_config == nullptr) return;
    clusterops::ControllerConfigInputs inputs = *evidence_.sources;
    inputs.operator_version = options_.release;
    inputs.has_os_streams = inputs.has_os_streams || options_.features.os_streams;
    const clusterops::ControllerConfigDraft draft = clusterops::DraftControllerConfig(inputs);
    for (const std::string& problem : draft.problems) {
      Add(Weight::kObstacle, fmt::format("the ControllerConfig: {}", problem));
    }
    const json::Value made = clusterops::MergedControllerConfig(*evidence_.controller_config, draft.spec);
    for (const auto& [field, value] : made.members()) {
      if (value == (*evidence_.controller_config)[field]) continue;
      Add(Weight::kObstacle, fmt::format("the ControllerConfig: spec.{} would change", field));
    }
  }

  void CheckGenerated() {
    if (evidence_.templates == nullptr || evidence_.generated_from == nullptr) {
      return Add(Weight::kInformation,
                 "the MachineConfigs that are generated from templates and settings were not compared; give the folder "
                 "of the release's templates with --templates DIR (docs/takeover.md)");
    }
    Append(CompareGenerated(view_, *evidence_.generated_from, *evidence_.templates, now_));
  }

  // Renders for each pool as Pintle would, and compares the name of the rendered config with the pool's target.
  void CheckPools() {
    for (const api::MachineConfigPool* pool : view_.pools) {
      const std::string& name = pool->metadata.name;
      const RenderInputs inputs = GatherRenderInputs(*pool, view_, options_.versions);
      const RenderOutcome outcome =
          inputs.refusal ? RenderOutcome{.verdict = *inputs.refusal, .rendered = {}} : RenderPass(inputs, nullptr);
      const std::string& target = pool->spec.configuration.name;
      if (!outcome.rendered) {
        Add(Weight::kObstacle, fmt::format("pool {}: nothing can be rendered: {}", name, outcome.verdict.message));
      } else if (outcome.rendered->config.metadata.name != target) {
        Add(Weight::kObstacle,
            fmt::format("pool {}: its target would become {} (now {})", name, outcome.rendered->config.metadata.name,
                        target.empty() ? "there is none" : target));
      }
      verdicts_[name] = outcome.verdict;
      if (!pool->spec.paused && !pool::IsTrue(pool->status.conditions, "Updated")) {
        Add(Weight::kObstacle, fmt::format("pool {} is not updated yet; wait until its nodes have its config", name));
      }
    }
  }

  void CheckNodes() {
    for (const api::Node* node : view_.nodes) {
      const api::ObjectMeta& metadata = node->metadata;
      if (metadata.Annotation(api::kDesiredDrainAnnotation) != metadata.Annotation(api::kLastAppliedDrainAnnotation)) {
        Add(Weight::kObstacle, fmt::format("node {} is being drained or uncordoned", metadata.name));
      }
    }
    const pool::NodeNames none;
    const PoolMembers members = MakePoolMembers(view_);
    const Changes changes = RolloutPass({.view = view_,
                                         .members = members,
                                         .verdicts = verdicts_,
                                         .skipped = none,
                                         .undrainable = none,
                                         .features = options_.features,
                                         .now = api::Time{std::chrono::floor<std::chrono::seconds>(now_)}});
    for (const NodeChange& change : changes.nodes) {
      if (change.target_text.empty()) {
        Add(Weight::kLoss, fmt::format("node {}: its labels or taints would be corrected", change.node));
      } else {
        Add(Weight::kObstacle, fmt::format("node {} would get {}", change.node, change.target_text));
      }
    }
  }

  void CheckReplicas() {
    if (std::string why = WhyTakeoverMustNotBegin(state_, settings_); !why.empty()) {
      Add(Weight::kObstacle, std::move(why));
    }
    const std::string ours = fmt::format("{}/{}", settings_.own_namespace, settings_.own_deployment);
    if (!state_.ours) return Add(Weight::kObstacle, fmt::format("there is no Deployment {}", ours));
    if (!start_line_ || !IsOperator(*start_line_)) {
      Add(Weight::kObstacle,
          fmt::format(
              "the Deployment {} would never hold the Lease machine-config with its present arguments; it needs "
              "--templates or --operator=yes, as in deploy/openshift",
              ours));
    }
    if (NumberIn(state_.ours->status, "readyReplicas") == 0) {
      Add(Weight::kObstacle, fmt::format("no replica of the Deployment {} is ready", ours));
    }
    const bool gives_up_server = settings_.with_server && !HasServerEnded(state_);
    if (const std::string why = WhyServerMustStay(state_, settings_); gives_up_server && !why.empty()) {
      Add(Weight::kObstacle, why);
    }
    if (!state_.operators && !state_.controller) {
      Add(Weight::kObstacle,
          fmt::format("namespace {} has neither the operator nor its controller: there is nothing to "
                      "take over",
                      settings_.namespace_name));
    }
  }

  // Reports that two programs of the operator may act at once if `start` is killed.  docs/takeover.md has the reason.
  void NoteOverlap() {
    const std::chrono::seconds overlap = std::max(OverlapAfterKilledHold(state_.operator_lease, settings_),
                                                  OverlapAfterKilledHold(state_.controller_lease, settings_));
    const std::string release = ReportedRelease();
    if (overlap == std::chrono::seconds() || HeedsWrittenDurations(release)) return;
    Add(Weight::kInformation,
        fmt::format(
            "this is a cluster of one machine, and the release of the Machine Config Operator is {}: if `start` "
            "is killed, run it again within 3 minutes; otherwise two of the Operator's programs may act at once "
            "for up to {} s if two pods of one Deployment run at that time (docs/takeover.md)",
            release.empty() ? "unknown" : release, overlap.count()));
  }

  void CheckAgents() {
    if (!settings_.with_daemons) return;
    const std::size_t agents = CountOfAgents(state_);
    if (agents == 0) {
      Add(Weight::kObstacle,
          "no node has an agent that stands by; install Pintle's agent with WaitForHandover=yes (pintled.conf(5))");
    } else if (agents < state_.nodes.size()) {
      Add(Weight::kInformation,
          fmt::format("{} of {} nodes keep the Machine Config Operator's daemon, because no agent "
                      "stands by there",
                      state_.nodes.size() - agents, state_.nodes.size()));
    }
  }

  void CheckFeatures() {
    for (const api::MachineOSConfig& config : view_.os_configs) {
      Add(Weight::kLoss,
          fmt::format("MachineOSConfig {}: no new image is built; the one that is built stays", config.metadata.name));
    }
    for (const std::string& feature : evidence_.unsupported) Add(Weight::kLoss, feature);
    if (!evidence_.has_machine_namespace) {
      Add(Weight::kInformation,
          fmt::format(
              "the cluster has no namespace {}, so Pintle writes no user data for new machines; apply deploy/openshift "
              "again when there is one",
              kMachineNamespace));
    }
  }

  const TakeoverEvidence& evidence_;
  const View& view_;
  const TakeoverState& state_;
  const TakeoverSettings& settings_;
  const WallTime now_;
  std::optional<CommandLine> start_line_;  // The result of StartLineOf() for Pintle's Deployment.
  RenderOptions options_;                  // The options in this line.
  Verdicts verdicts_;
  std::vector<TakeoverFinding> findings_;
};

}  // namespace

std::vector<TakeoverFinding> CheckTakeover(const TakeoverEvidence& evidence, const TakeoverSettings& settings,
                                           WallTime now) {
  return TakeoverChecker(evidence, settings, now).Check();
}

}  // namespace pintle::controller
