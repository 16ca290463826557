// SPDX-License-Identifier: Apache-2.0
#include "controller/takeover.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <string>
#include <utility>

#include "base/clock.h"
#include "base/command_line.h"
#include "base/time_span.h"
#include "controller/cluster.h"
#include "controller/controller.h"
#include "controller/operator_sources.h"
#include "controller/start_options.h"
#include "controller/takeover_check.h"
#include "controller/takeover_cluster.h"
#include "event/loop.h"
#include "kube/client.h"

namespace pintle::controller {
namespace {

constexpr auto kNextLook = std::chrono::milliseconds(300);

constexpr auto kTakeoverOptions = std::to_array<Option>({
    {"--kubeconfig", "FILE", "an administrator's kubeconfig; without it, the pod's service account"},
    {"--server", "", "hand over the Ignition server, too"},
    {"--namespace", "NAMESPACE", "the Machine Config Operator's namespace [openshift-machine-config-operator]"},
    {"--own-namespace", "NAMESPACE", "Pintle's namespace [pintle]"},
    {"--patience", "TIME", "how long to wait for one step [15min]"},
    {"--help", "", "print this help"},
});

enum class TakeoverVerb { kCheck, kPlan, kStart, kStatus, kUndo };

struct TakeoverOrder {
  TakeoverVerb verb = TakeoverVerb::kCheck;
  std::string kubeconfig = {};
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
  if (line.words().size() != 1) {
    return Error(ErrorKind::kInvalid, "one of check, plan, start, status and undo is needed (see --help)");
  }
  TakeoverOrder order{.verb = TRY(VerbNamed(std::string(line.words()[0])))};
  order.kubeconfig = line.Value("--kubeconfig").value_or("");
  order.settings.with_server = line.Has("--server");
  order.settings.namespace_name = line.Value("--namespace").value_or(order.settings.namespace_name);
  order.settings.own_namespace = line.Value("--own-namespace").value_or(order.settings.own_namespace);
  order.settings.own_identity = kIdentityPrefix;
  if (const auto patience = line.Value("--patience")) {
    order.patience = TRY(ParseTimeSpan(*patience), "--patience " + *patience);
  }
  return order;
}

class TakeoverRun {
 public:
  TakeoverRun(event::Loop& loop, kube::Client client, TakeoverOrder order)
      : loop_(loop), client_(std::move(client)), order_(std::move(order)), cluster_(loop, client_, order_.settings) {}

  // Returns false if there are obstacles, or if steps are left.
  Result<bool> Run() {
    switch (order_.verb) {
      case TakeoverVerb::kCheck:
        return Check();
      case TakeoverVerb::kPlan:
        return Plan();
      case TakeoverVerb::kStart:
        if (!TRY(MayStart())) return false;
        return Make(StepsToTakeOver);
      case TakeoverVerb::kStatus:
        return PrintStatus();
      case TakeoverVerb::kUndo:
        break;
    }
    return Make(StepsToUndo);
  }

 private:
  using Steps = std::vector<TakeoverStep> (*)(const TakeoverState&, const TakeoverSettings&, WallTime);

  // Reads the whole cluster as the controller does.
  Result<std::vector<TakeoverFinding>> Findings() {
    const TakeoverState state = TRY(cluster_.Read());
    const Cluster* all = nullptr;
    const Cluster cluster(client_, order_.settings.namespace_name,
                          {.changed =
                               [&] {
                                 if (all != nullptr && all->is_ready()) loop_.Stop();
                               },
                           .node_changed = [](const api::Node&, const api::Node&) {},
                           .trouble = [this](std::string_view what, const Error& error) { StopReading(what, error); }});
    all = &cluster;
    TRY(loop_.Run());
    all = nullptr;  // From now on, others run the loop.

    OperatorSources* known = nullptr;
    OperatorSources sources(
        client_, order_.settings.namespace_name,
        {.changed =
             [&] {
               if (known == nullptr) return;
               known->Follow();
               if (known->is_ready()) loop_.Stop();
             },
         .trouble = [this](std::string_view what, const Error& error) { StopReading(what, error); }});
    known = &sources;
    TRY(loop_.Run());
    known = nullptr;

    const View view = cluster.Look();
    clusterops::ControllerConfigInputs inputs = sources.Inputs();
    inputs.has_os_streams = view.os_image_stream != nullptr;
    if (view.os_image_stream != nullptr) inputs.os_image_stream = *view.os_image_stream;
    const TemplateInput* const config = sources.controller_config();
    std::vector<std::string> unsupported = TRY(cluster_.Unsupported());
    return CheckTakeover({.view = view,
                          .state = state,
                          .sources = sources.is_missing() ? nullptr : &inputs,
                          .controller_config = config == nullptr ? nullptr : &config->spec,
                          .unsupported = std::move(unsupported)},
                         order_.settings, clock_.Wall());
  }

  void StopReading(std::string_view what, const Error& error) {
    loop_.Stop(Error(error).While(fmt::format("reading {}", what)));
  }

  static bool HasObstacle(const std::vector<TakeoverFinding>& findings) {
    return std::any_of(findings.begin(), findings.end(),
                       [](const TakeoverFinding& finding) { return finding.weight == Weight::kObstacle; });
  }

  static void Print(const std::vector<TakeoverFinding>& findings) {
    for (const TakeoverFinding& finding : findings) {
      fmt::print("{}  {}\n", finding.weight == Weight::kObstacle ? "obstacle" : "price   ", finding.text);
    }
  }

  Result<bool> Check() {
    const auto findings = TRY(Findings());
    Print(findings);
    const bool has_obstacle = HasObstacle(findings);
    fmt::print("{}\n", has_obstacle ? "A takeover would do harm now." : "Nothing speaks against a takeover.");
    return !has_obstacle;
  }

  // A takeover that has begun goes on: half of it is worse than all of it.
  Result<bool> MayStart() {
    const TakeoverState state = TRY(cluster_.Read());
    if (state.record) return true;
    const auto findings = TRY(Findings());
    if (!HasObstacle(findings)) return true;
    Print(findings);
    fmt::print("Nothing was changed.\n");
    return false;
  }

  Result<bool> Plan() {
    const TakeoverState state = TRY(cluster_.Read());
    bool can_all = true;
    for (const TakeoverStep& step : StepsToTakeOver(state, order_.settings, clock_.Wall())) {
      fmt::print("{:<11}{}\n", step.name, Words(step));
      if (!step.write || step.is_done) continue;
      const auto tried = cluster_.Write(*step.write, WriteMode::kDryRun);
      if (tried) continue;
      can_all = false;
      fmt::print("{:<11}the API server refuses this: {}\n", "", tried.error().message());
    }
    return can_all;
  }

  Result<bool> PrintStatus() {
    const TakeoverState state = TRY(cluster_.Read());
    const auto steps = StepsToTakeOver(state, order_.settings, clock_.Wall());
    for (const TakeoverStep& step : steps) fmt::print("{:<11}{}\n", step.name, Words(step));
    return NextOf(steps) == nullptr;
  }

  static std::string Words(const TakeoverStep& step) {
    if (step.is_done) return "done";
    if (!step.write) return "waits until " + step.waits_for;
    return step.write->in_words + (step.waits_for.empty() ? "" : "; then waits until " + step.waits_for);
  }

  // Makes one step after the other.  What is in the cluster is read again before each write.
  Result<bool> Make(Steps steps_of) {
    std::string named;
    MonotonicTime since = clock_.Monotonic();
    while (true) {
      const TakeoverState state = TRY(cluster_.Read());
      const auto steps = steps_of(state, order_.settings, clock_.Wall());
      const TakeoverStep* const next = NextOf(steps);
      if (next == nullptr) {
        fmt::print("All steps are done.\n");
        return true;
      }
      if (named != next->name) {
        named = next->name;
        since = clock_.Monotonic();
        fmt::print("{:<11}{}\n", next->name, Words(*next));
        std::fflush(stdout);
      }
      if (clock_.Monotonic() - since > order_.patience) {
        return Error(ErrorKind::kUnavailable, fmt::format("{}: still waits until {}; run the same command again, or "
                                                          "`pintle-controller takeover undo`",
                                                          next->name, next->waits_for));
      }
      if (next->write) {
        const auto written = cluster_.Write(*next->write, WriteMode::kReally);
        const bool is_decided_again = written || written.error().kind() == ErrorKind::kConflict;
        if (!is_decided_again) return written.error();
      }
      TRY(cluster_.Wait(kNextLook));
    }
  }

  event::Loop& loop_;
  kube::Client client_;
  const TakeoverOrder order_;
  const SystemClock clock_;
  TakeoverCluster cluster_;
};

Result<bool> RunTakeover(TakeoverOrder order) {
  const auto loop = TRY(event::Loop::Create());
  auto client = TRY(kube::Client::Create(*loop, TRY(AccessTo(order.kubeconfig)), {.field_manager = "pintle"}));
  return TakeoverRun(*loop, std::move(client), std::move(order)).Run();
}

}  // namespace

ExitStatus Takeover(const std::vector<std::string_view>& words) {
  const auto line = CommandLine::Parse(kTakeoverOptions, words);
  if (line && line->Has("--help")) {
    fmt::print("Usage: pintle-controller takeover check|plan|start|status|undo [OPTION...]\n\n{}",
               Describe(kTakeoverOptions));
    return ExitStatus::kFine;
  }
  auto order = line ? ReadOrder(*line) : Result<TakeoverOrder>(line.error());
  if (!order) {
    fmt::print(stderr, "pintle-controller takeover: {}\n", order.error().message());
    return ExitStatus::kWrong;
  }
  const auto outcome = RunTakeover(*std::move(order));
  if (outcome) return *outcome ? ExitStatus::kFine : ExitStatus::kDiffers;
  fmt::print(stderr, "pintle-controller takeover: {}\n", outcome.error().message());
  return ExitStatus::kWrong;
}

}  // namespace pintle::controller
