// SPDX-License-Identifier: Apache-2.0
#include "controller/takeover.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/command_line.h"
#include "base/output.h"
#include "base/printable.h"
#include "base/time_span.h"
#include "controller/cluster.h"
#include "controller/controller.h"
#include "controller/controller_config_pass.h"
#include "controller/generated_sources.h"
#include "controller/operator_kinds.h"
#include "controller/operator_sources.h"
#include "controller/start_options.h"
#include "controller/takeover_check.h"
#include "controller/takeover_cluster.h"
#include "controller/takeover_daemons.h"
#include "controller/takeover_overrides.h"
#include "controller/takeover_progress.h"
#include "controller/takeover_record.h"
#include "controller/takeover_rights.h"
#include "controller/takeover_steps.h"
#include "event/loop.h"
#include "generated/template_folder.h"
#include "kube/client.h"

namespace pintle::controller {
namespace {

// `plan` gives up the dry run of a step after this many conflicts.  `start` tries a step for longer.
constexpr int kDryRunsOfAStep = 5;
constexpr auto kPauseBeforeLook = std::chrono::milliseconds(300);
// A look that reads nodes comes less often, because a cluster may have many nodes.
constexpr auto kPauseBeforeLookAtNodes = std::chrono::seconds(1);

constexpr auto kTakeoverOptions = std::to_array<Option>({
    {"--kubeconfig", "FILE", "an administrator's kubeconfig; without it, the pod's service account"},
    {"--templates", "DIR",
     "the release's templates; check and start then compare what Pintle would generate with the cluster's "
     "configs [not compared]"},
    {"--server", "", "also hand over the Ignition server"},
    {"--daemons", "", "also hand each node over to Pintle's agent if the agent stands by there"},
    {"--namespace", "NAMESPACE", "the Machine Config Operator's namespace [openshift-machine-config-operator]"},
    {"--own-namespace", "NAMESPACE", "Pintle's namespace [pintle]"},
    {"--patience", "TIME", "how long to wait for one step [15min]"},
    {"--help", "", "print this help"},
});

enum class TakeoverVerb { kCheck, kPlan, kStart, kStatus, kUndo };

struct TakeoverOrder {
  TakeoverVerb verb = TakeoverVerb::kCheck;
  std::string kubeconfig = {};
  std::string templates = {};  // The folder of templates; empty if generated configs are not compared.
  TakeoverSettings settings = {};
  std::chrono::milliseconds patience = std::chrono::minutes(15);
};

Result<TakeoverVerb> VerbNamed(const std::string& name) {
  constexpr auto kNames = std::to_array<std::pair<std::string_view, TakeoverVerb>>({{"check", TakeoverVerb::kCheck},
                                                                                    {"plan", TakeoverVerb::kPlan},
                                                                                    {"start", TakeoverVerb::kStart},
                                                                                    {"status", TakeoverVerb::kStatus},
                                                                                    {"undo", TakeoverVerb::kUndo}});
  for (const auto& [known, verb] : kNames) {
    if (known == name) return verb;
  }
  return Error(ErrorKind::kInvalid, fmt::format("\"{}\" is not check, plan, start, status or undo", name));
}

Result<TakeoverOrder> ReadOrder(const CommandLine& line) {
  if (line.operands().size() != 1) {
    return Error(ErrorKind::kInvalid, "one of check, plan, start, status and undo is needed (see --help)");
  }
  TakeoverOrder order;
  order.verb = TRY(VerbNamed(std::string(line.operands()[0])));
  order.kubeconfig = line.Value("--kubeconfig").value_or("");
  order.templates = line.Value("--templates").value_or("");
  order.settings.with_server = line.Has("--server");
  order.settings.with_daemons = line.Has("--daemons");
  order.settings.with_templates = !order.templates.empty();
  order.settings.namespace_name = line.Value("--namespace").value_or(order.settings.namespace_name);
  order.settings.own_namespace = line.Value("--own-namespace").value_or(order.settings.own_namespace);
  order.settings.own_identity_prefix = kIdentityPrefix;
  order.settings.offer = kTakeoverOffer;
  if (const auto patience = line.Value("--patience")) {
    order.patience = TRY(ParseTimeSpan(*patience), "--patience " + *patience);
  }
  return order;
}

// Texts about objects have values from the cluster.  They could control the terminal, or begin a line that looks like
// one of this program.
void PrintLine(std::string_view text) { Print(Printable(text) + "\n"); }

// The controller writes these objects while it leads and acts as the operator.
constexpr auto kWritesOfLeader = std::to_array<std::string_view>({
    "MachineConfigPools: status, spec.configuration, the labels of built-in pools, and for one day the annotation "
    "pintle.io/rendered-configs-kept-until",
    "Nodes: the annotations of updates and drains; labels and taints of masters",
    "MachineConfigs: rendered configs, and with --templates generated ones",
    "ControllerConfig: spec and annotations, where an input has changed",
    "MachineConfigNodes: one for each node",
    "MachineConfiguration: status.nodeDisruptionPolicyStatus",
    "ClusterOperator machine-config: status",
    "ConfigMaps kubeconfig-data and openshift-config-managed/merged-trusted-image-registry-ca",
    "Secrets openshift-machine-api/POOL-user-data-managed, one for each pool",
    "Secrets machine-config-server-ca and machine-config-server-tls, ConfigMap machine-config-server-ca: when they "
    "have to be renewed, in a cluster with MachineSets",
});

class TakeoverRun {
 public:
  TakeoverRun(event::Loop& loop, kube::Client client, TakeoverOrder order)
      : loop_(loop), client_(std::move(client)), order_(std::move(order)), cluster_(loop, client_, order_.settings) {}

  // Returns true if all is well.  Returns false if `check` or `start` finds an obstacle, if `plan` finds that the API
  // server would refuse a write, or if `status` finds that steps are left.
  Result<bool> Run() {
    switch (order_.verb) {
      case TakeoverVerb::kCheck:
        return Check();
      case TakeoverVerb::kPlan:
        return Plan();
      case TakeoverVerb::kStart:
        if (!TRY(MayStart())) return false;
        return MakeSteps(StepsToTakeOver);
      case TakeoverVerb::kStatus:
        return PrintStatus();
      case TakeoverVerb::kUndo:
        break;
    }
    return MakeSteps(StepsToUndo);
  }

 private:
  // A pointer to StepsToTakeOver() or to StepsToUndo().
  using StepsFunction = std::vector<TakeoverStep> (*)(const TakeoverState&, const TakeoverSettings&, WallTime);

  // Reads the whole cluster as the controller does, and returns what speaks against a takeover.
  Result<std::vector<TakeoverFinding>> Findings() {
    std::optional<generated::TemplateFolder> templates;
    if (!order_.templates.empty()) {
      templates.emplace(TRY(generated::TemplateFolder::ReadRelease(order_.templates), "--templates"));
    }
    std::vector<Right> lacking = TRY(cluster_.LackingRights(RightsForTakeover(order_.settings)));
    // The rest of the check needs the rights to read.
    if (std::any_of(lacking.begin(), lacking.end(), [](const Right& right) { return IsToRead(right); })) {
      return FindingsAbout(lacking, {}, {}, order_.settings);
    }
    const bool has_machine_namespace = TRY(cluster_.HasMachineNamespace());
    std::vector<RightsFile> account_lacking = TRY(RightsThatTheAccountLacks(lacking, has_machine_namespace));
    const TakeoverState state = TRY(cluster_.Read());
    std::vector<AgentRights> agents_lacking = TRY(RightsThatAgentsLack(lacking, state));
    std::vector<std::string> unsupported = TRY(cluster_.UnsupportedFeatures(UnreadableCollector()));
    auto cluster_operator = TRY(cluster_.ReadClusterOperator());
    std::function<void()> on_change = [] {};
    const Cluster cluster(client_, order_.settings.namespace_name,
                          {.changed = [&] { on_change(); },
                           .node_changed = [](const api::Node&, const api::Node&) {},
                           .trouble = [this](std::string_view kind, const Error& error) { StopReading(kind, error); },
                           .unreadable = UnreadableCollector()});
    TRY(RunUntil([&] { return cluster.is_ready(); }, on_change));

    OperatorSources sources(client_, order_.settings.namespace_name,
                            {.changed = [&] { on_change(); },
                             .trouble = [this](std::string_view kind, const Error& error) { StopReading(kind, error); },
                             .unreadable = UnreadableCollector()});
    const auto are_sources_ready = [&] {
      sources.Follow();
      return sources.is_ready();
    };
    TRY(RunUntil(are_sources_ready, on_change));

    std::optional<GeneratedSources> generated_sources;
    if (templates) {
      generated_sources.emplace(
          client_, GeneratedSources::Listener{
                       .changed = [&] { on_change(); },
                       .trouble = [this](std::string_view kind, const Error& error) { StopReading(kind, error); },
                       .unreadable = UnreadableCollector()});
      const auto is_generated_ready = [&] {
        generated_sources->FollowSecrets();
        return generated_sources->is_ready();
      };
      TRY(RunUntil(is_generated_ready, on_change));
    }

    // The copies do not change any more, because the loop does not run.
    const View view = cluster.Look();
    clusterops::ControllerConfigInputs inputs = sources.Inputs();
    AddOsImageStream(view, inputs);
    const WholeControllerConfig* const config = sources.controller_config();
    if (config != nullptr) AddPresent(*config, view, inputs);
    const SourcesView generated_from = generated_sources ? generated_sources->Look() : SourcesView();
    return CheckTakeover(
        {.view = view,
         .state = state,
         .sources = sources.is_missing() ? nullptr : &inputs,
         .are_sources_readable = sources.WhyUnreadable().empty() && view.unreadable_os_image_stream.empty(),
         .controller_config = config == nullptr ? nullptr : &config->spec,
         .has_machine_namespace = has_machine_namespace,
         .unsupported = std::move(unsupported),
         .generated_from = &generated_from,
         .templates = templates ? &*templates : nullptr,
         .cluster_operator = std::move(cluster_operator),
         .lacking = std::move(lacking),
         .account_lacking = std::move(account_lacking),
         .agents_lacking = std::move(agents_lacking),
         .unreadable = std::move(unreadable_)},
        order_.settings, clock_.Wall());
  }

  // Runs the loop until `is_ready` returns true after a change.  `on_change` is what listeners call meanwhile.
  Result<> RunUntil(const std::function<bool()>& is_ready, std::function<void()>& on_change) {
    on_change = [&] {
      if (is_ready()) loop_.Stop();
    };
    TRY(loop_.Run());
    on_change = [] {};  // From now on, the loop runs for other objects.
    return {};
  }

  static bool IsToRead(const Right& right) {
    return right.verb == "get" || right.verb == "list" || right.verb == "watch";
  }

  // `lacking` are the rights that the person who runs `takeover` lacks.  Returns an empty list if this person may not
  // create SubjectAccessReviews.
  Result<std::vector<RightsFile>> RightsThatTheAccountLacks(const std::vector<Right>& lacking,
                                                            bool has_machine_namespace) {
    if (!MayReview(lacking)) return std::vector<RightsFile>();
    std::vector<RightsFile> files = RightsOfAccount(order_.settings);
    const RightsHolder account = HolderOfAccount({order_.settings.own_namespace, order_.settings.own_account});
    for (RightsFile& file : files) {
      // Nobody can have rights in a namespace that does not exist, and nobody needs them.
      if (!has_machine_namespace) {
        std::erase_if(file.rights, [](const Right& right) { return right.namespace_name == kMachineNamespace; });
      }
      file.rights = TRY(cluster_.LackingRights(file.rights, account));
    }
    return files;
  }

  // Checks the rights of one agent, because the rights of all agents come from the same group.  Returns an empty list
  // if no agent gets a node, or if MayReview() returns false.
  Result<std::vector<AgentRights>> RightsThatAgentsLack(const std::vector<Right>& lacking, const TakeoverState& state) {
    const std::string node = order_.settings.with_daemons ? NodeOfAnAgent(state) : "";
    if (node.empty() || !MayReview(lacking)) return std::vector<AgentRights>();
    std::vector<Right> of_agent = TRY(cluster_.LackingRights(RightsOfAgent(node, order_.settings), HolderOnNode(node)));
    return std::vector<AgentRights>{{.node = node, .rights = std::move(of_agent)}};
  }

  // Returns whether the person who runs `takeover` may create SubjectAccessReviews.
  static bool MayReview(const std::vector<Right>& lacking) {
    return std::none_of(lacking.begin(), lacking.end(),
                        [](const Right& right) { return right.resource == "subjectaccessreviews"; });
  }

  // Returns a listener that collects objects that cannot be read, as findings.  The check goes on without them.
  UnreadableListener UnreadableCollector() { return AddUnreadableTo(unreadable_); }

  void StopReading(std::string_view kind, const Error& error) {
    loop_.Stop(Error(error).While(fmt::format("reading {}", kind)));
  }

  static bool HasObstacle(const std::vector<TakeoverFinding>& findings) {
    return std::any_of(findings.begin(), findings.end(),
                       [](const TakeoverFinding& finding) { return finding.weight == Weight::kObstacle; });
  }

  static void PrintFindings(const std::vector<TakeoverFinding>& findings) {
    for (const TakeoverFinding& finding : findings) {
      PrintLine(fmt::format("{:<10}{}", WordFor(finding.weight), finding.text));
    }
  }

  static std::string_view WordFor(Weight weight) {
    switch (weight) {
      case Weight::kObstacle:
        return "obstacle";
      case Weight::kLoss:
        return "loss";
      case Weight::kInformation:
        break;
    }
    return "notice";
  }

  Result<bool> Check() {
    const auto findings = TRY(Findings());
    PrintFindings(findings);
    const bool has_obstacle = HasObstacle(findings);
    PrintLine(has_obstacle ? "A takeover cannot begin before the obstacles are removed." : "A takeover can begin.");
    return !has_obstacle;
  }

  // Returns whether `start` may make its steps.  Obstacles do not stop a takeover that has taken something already: to
  // stop halfway is worse than to go on in spite of the obstacles.
  Result<bool> MayStart() {
    const TakeoverState state = TRY(cluster_.Read());
    if (std::string why = WhyTakeoverMustNotBegin(state, order_.settings); !why.empty()) {
      return Error(ErrorKind::kInvalid, std::move(why));
    }
    if (HasTakenAnything(state, order_.settings)) return true;
    const auto findings = TRY(Findings());
    if (!HasObstacle(findings)) return true;
    PrintFindings(findings);
    PrintLine("Nothing was changed.");
    return false;
  }

  Result<bool> Plan() {
    const TakeoverState state = TRY(cluster_.Read());
    bool are_all_accepted = true;
    for (const TakeoverStep& step : StepsToTakeOver(state, order_.settings, clock_.Wall())) {
      PrintStep(step);
      if (!step.write || step.is_done) continue;
      const auto tried = TryOut(step);
      if (tried) continue;
      if (tried.error().kind() == ErrorKind::kConflict) {
        PrintBelowStep("could not be tried out, because each dry run met a conflict: " + tried.error().message());
        continue;
      }
      are_all_accepted = false;
      PrintBelowStep("the API server refuses this: " + tried.error().message());
    }
    PrintLine("Once it leads, Pintle's controller writes these objects in place of the Machine Config Operator:");
    for (const std::string_view text : kWritesOfLeader) PrintBelowStep(std::string(text));
    if (state.cluster_version) {
      PrintLine(
          "While the ClusterVersion has the override, the cluster gets no new minor version (Upgradeable is False).");
    }
    return are_all_accepted;
  }

  // Makes a dry run of the step's write.  If somebody has changed the object since it was read, as the holder of a
  // lease does at each renewal, the step is decided again.
  Result<> TryOut(TakeoverStep step) {
    for (int tries = 1;; ++tries) {
      auto tried = cluster_.Write(*step.write, WriteMode::kDryRun);
      const bool is_conflict = !tried && tried.error().kind() == ErrorKind::kConflict;
      if (!is_conflict || tries == kDryRunsOfAStep) return tried;
      const TakeoverState state = TRY(cluster_.Read());
      const auto steps = StepsToTakeOver(state, order_.settings, clock_.Wall());
      const auto again =
          std::find_if(steps.begin(), steps.end(), [&](const TakeoverStep& other) { return other.name == step.name; });
      if (again == steps.end() || again->is_done || !again->write) return {};
      step = *again;
    }
  }

  Result<bool> PrintStatus() {
    const TakeoverState state = TRY(cluster_.Read());
    const auto steps = StepsToTakeOver(state, order_.settings, clock_.Wall());
    for (const TakeoverStep& step : steps) PrintStep(step);
    return NextOf(steps) == nullptr;
  }

  // Returns what the step still has to do, or "done".
  static std::string Words(const TakeoverStep& step) {
    if (step.is_done) return "done";
    if (!step.write) return "waits until " + step.waits_for;
    return step.write->in_words + (step.waits_for.empty() ? "" : "; then waits until " + step.waits_for);
  }

  static void PrintStep(const TakeoverStep& step) { PrintLine(fmt::format("{:<10} {}", step.name, Words(step))); }

  // Prints a line about the step in the line above.
  static void PrintBelowStep(const std::string& text) { PrintLine(fmt::format("{:<10} {}", "", text)); }

  // Makes one step after the other, and reads the cluster again before each write.  Returns true when all steps are
  // done.
  Result<bool> MakeSteps(StepsFunction steps_of) {
    TakeoverProgress progress(order_.patience,
                              order_.verb == TakeoverVerb::kUndo
                                  ? "then run the same command again"
                                  : "run the same command again, or `pintle-controller takeover undo`");
    std::string printed_step;
    while (true) {
      auto state = cluster_.Read();
      if (!state) {
        TRY(GoOnAfter(state.error(), progress));
        TRY(cluster_.Wait(kPauseBeforeLookAtNodes));
        continue;
      }
      const auto steps = steps_of(*state, order_.settings, clock_.Wall());
      TRY(progress.Saw(steps, clock_.Monotonic()));
      const TakeoverStep* const next = NextOf(steps);
      if (next == nullptr) {
        PrintLine("All steps are done.");
        if (const std::string notice = NoticeOfOverride(*state, order_.settings); !notice.empty()) {
          PrintLine(notice);
        }
        return true;
      }
      if (printed_step != next->name) {
        printed_step = next->name;
        PrintStep(*next);
        FlushOutput();  // A failure is ignored: half a takeover would be worse than one without a report.
      }
      if (next->write) {
        const auto written = cluster_.Write(*next->write, WriteMode::kReally);
        if (!written) TRY(GoOnAfter(written.error(), progress));
      }
      TRY(cluster_.Wait(state->nodes.empty() ? kPauseBeforeLook : kPauseBeforeLookAtNodes));
    }
  }

  // Prints the error of a request that is tried again.  Returns an error if the run has to end.
  Result<> GoOnAfter(const Error& error, TakeoverProgress& progress) {
    TRY(progress.Failed(error, clock_.Monotonic()));
    if (error.kind() == ErrorKind::kConflict) return {};
    PrintBelowStep(error.message() + "; this is tried again");
    FlushOutput();
    return {};
  }

  event::Loop& loop_;
  kube::Client client_;
  const TakeoverOrder order_;
  const SystemClock clock_;
  TakeoverCluster cluster_;
  std::vector<UnreadableObject> unreadable_;
};

Result<bool> RunTakeover(TakeoverOrder order) {
  const auto loop = TRY(event::Loop::Create());
  auto client = TRY(kube::Client::Create(*loop, TRY(AccessTo(order.kubeconfig)), {.field_manager = "pintle"}));
  return TakeoverRun(*loop, std::move(client), std::move(order)).Run();
}

}  // namespace

ExitStatus Takeover(const std::vector<std::string_view>& arguments) {
  const auto line = CommandLine::Parse(kTakeoverOptions, arguments);
  if (line && line->Has("--help")) {
    Print(fmt::format("Usage: pintle-controller takeover check|plan|start|status|undo [OPTION...]\n\n{}",
                      Describe(kTakeoverOptions)));
    return ExitStatus::kSuccess;
  }
  auto order = line ? ReadOrder(*line) : Result<TakeoverOrder>(line.error());
  if (!order) {
    PrintToStderr(fmt::format("pintle-controller takeover: {}\n", order.error().message()));
    return ExitStatus::kFailure;
  }
  const auto outcome = RunTakeover(*std::move(order));
  if (outcome) return *outcome ? ExitStatus::kSuccess : ExitStatus::kDiffers;
  PrintToStderr(fmt::format("pintle-controller takeover: {}\n", outcome.error().message()));
  return ExitStatus::kFailure;
}

}  // namespace pintle::controller
