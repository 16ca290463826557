// SPDX-License-Identifier: Apache-2.0
#include "controller/drain_controller.h"

#include <fmt/core.h>

#include <string_view>
#include <utility>
#include <variant>

#include "base/log.h"
#include "base/time_span.h"
#include "drain/protocol.h"

namespace pintle::controller {
namespace {

constexpr log::MessageId kDraining{"38d7a6cf6e3341c1b610b500fafec55d"};
constexpr log::MessageId kDrained{"3752a5aad0ea4e16b6f6ecb4a64c7707"};
constexpr log::MessageId kDrainTrouble{"c3a33d98b0ae4d00852b7f34f8112a53"};
constexpr log::MessageId kUncordoned{"244b5ec3974c410dba279ab48f435fd7"};
constexpr log::MessageId kHopeless{"67ab7fd4e8d14206a96d6d166bf9878c"};

// The limit for all nodes together.
constexpr int kMostEvictionsAtOnce = 16;

// Returns the time as Go programs write it: "1h0m0s".
std::string InGoWords(drain::Settings::Time time) { return GoTimeSpan(std::chrono::floor<std::chrono::seconds>(time)); }

}  // namespace

// The drain or uncordon that the agent of one node has requested.
class DrainController::RequestedDrain {
 public:
  RequestedDrain(DrainController& drains, std::string name)
      : drains_(drains),
        name_(std::move(name)),
        drain_(drains.parts_.loop, drains.client_, drains.parts_.clock, drains.evictions_, name_,
               {.report =
                    [this](const drain::News& news) { std::visit([this](const auto& event) { Report(event); }, news); },
                .evicted = [this](const kube::ObjectName& pod) { LogInfo("Evicted pod " + pod.ToString()); },
                .when_reported =
                    [this](std::function<void()> then) { drains_.conditions_.WhenWritten(name_, std::move(then)); }}) {}

  void See(const api::Node& node, const drain::Settings& settings) {
    node_ = node;
    settings_ = settings;
    drain_.See(node, settings);
  }

  bool is_idle() const { return drain_.is_idle(); }

 private:
  void Report(const drain::news::Misunderstood& news) { LogWarning(news.why); }

  void Report(const drain::news::Cordoning& news) {
    if (news.again) LogInfo("External actor has unexpectedly uncordoned node, cordoning again...");
    LogInfo(fmt::format("initiating cordon (currently schedulable: {})", !node_.spec.unschedulable));
    if (!news.again) Forecast();
  }

  void Report(const drain::news::Cordoned&) {
    LogInfo("cordon succeeded (currently schedulable: false)");
    WriteCondition(drain_moment::Cordoned());
  }

  void Report(const drain::news::CordonFailed& news) {
    LogWarning(fmt::format("failed to cordon: {}", news.why));
    WriteCondition(drain_moment::CordonFailed(news.why, node_.spec.unschedulable));
  }

  void Report(const drain::news::Draining& news) {
    LogNotice(fmt::format("initiating drain for {}", news.request.config), kDraining);
    WriteCondition(drain_moment::Draining(news.request.ToText(), LastAnswer()));
  }

  void Report(const drain::news::AttemptFailed& news) {
    std::string text = "Drain failed. ";
    if (news.is_slow) text += fmt::format("Drain has been failing for more than {}. ", InWords(settings_.slow_after));
    text += fmt::format("Waiting {} then retrying. Error message from drain: {}", InWords(news.pause), news.why);
    LogWarning(text);
    if (news.is_slow) EmitWarning("DrainThresholdExceeded", text);
    WriteCondition(drain_moment::DrainFailed(news.why, news.request.ToText(), LastAnswer()));
  }

  void Report(const drain::news::Overdue& news) {
    const std::string text =
        fmt::format("drain exceeded timeout: {}. Will continue to retry.", InGoWords(settings_.timeout));
    drains_.errors_[name_] = true;
    log::Error(fmt::format("node {}: {} It began at {}.", name_, text, ToRfc3339(news.started)), kDrainTrouble,
               Fields());
    EmitWarning("DrainFailed", fmt::format("node {}: {}", name_, text));
  }

  void Report(const drain::news::Drained& news) {
    LogNotice("operation successful; applying completion annotation", kDrained);
    drains_.errors_.erase(name_);
    WriteCondition(drain_moment::Drained(news.request.ToText()));
  }

  void Report(const drain::news::Uncordoning&) {
    LogInfo(fmt::format("initiating uncordon (currently schedulable: {})", !node_.spec.unschedulable));
    drains_.errors_.erase(name_);
  }

  void Report(const drain::news::Uncordoned& news) {
    LogNotice(
        news.stays_cordoned
            ? fmt::format("stays cordoned, because it was cordoned before its drain; run `kubectl uncordon {}` to "
                          "let pods run on it",
                          name_)
            : "uncordon succeeded (currently schedulable: true)",
        kUncordoned);
    WriteCondition(drain_moment::Uncordoned(news.stays_cordoned));
  }

  void Report(const drain::news::UncordonFailed& news) {
    LogWarning(fmt::format("failed to uncordon: {}", news.why));
    WriteCondition(drain_moment::UncordonFailed(news.why, node_.spec.unschedulable));
  }

  void Report(const drain::news::AnswerFailed& news) {
    LogWarning(fmt::format("failed to set node uncordoned annotation: {}", news.why));
  }

  void Report(const drain::news::Answered& news) {
    drains_.answered_.insert_or_assign(name_, Answered{news.request.verb, drains_.parts_.clock.Wall()});
  }

  void Report(const drain::news::Withdrawn&) {
    LogInfo("the agent has withdrawn its request");
    drains_.errors_.erase(name_);
  }

  void Forecast() {
    forecast_ = drains_.parts_.forecaster.Ask(
        name_, drains_.parts_.all_nodes(), [this](const Result<std::vector<drain::Blocker>>& blockers) {
          if (!blockers) return LogInfo(fmt::format("its drain cannot be forecast: {}", blockers.error().message()));
          if (drain::ProspectOf(*blockers) != drain::Prospect::kHopeless) return;
          const std::string text = "the drain cannot succeed: " + drain::Summary(*blockers);
          log::Warning(fmt::format("node {}: {}", name_, text), kHopeless, Fields());
          EmitWarning("DrainBlocked", fmt::format("node {}: {}", name_, text));
        });
  }

  const std::string& LastAnswer() const { return node_.metadata.Annotation(api::kLastAppliedDrainAnnotation); }

  std::vector<log::Field> Fields() const { return {{"PINTLE_NODE", name_}}; }
  void LogInfo(const std::string& text) { log::Info(fmt::format("node {}: {}", name_, text), Fields()); }
  void LogNotice(const std::string& text, const log::MessageId& id) {
    log::Notice(fmt::format("node {}: {}", name_, text), id, Fields());
  }
  void LogWarning(const std::string& text) {
    log::Warning(fmt::format("node {}: {}", name_, text), kDrainTrouble, Fields());
  }
  void EmitWarning(const std::string& reason, const std::string& message) {
    drains_.parts_.announcer.Emit(node_, kube::EventKind::kWarning, reason, message);
  }
  void WriteCondition(DrainMoment moment) { drains_.conditions_.Write(name_, std::move(moment)); }

  DrainController& drains_;
  std::string name_;
  api::Node node_;
  drain::Settings settings_;
  kube::Call forecast_;
  drain::NodeDrain drain_;
};

DrainController::DrainController(Parts parts, kube::Client client)
    : parts_(std::move(parts)),
      client_(std::move(client)),
      conditions_(client_, parts_.clock),
      evictions_(parts_.loop, kMostEvictionsAtOnce) {}

DrainController::~DrainController() = default;

void DrainController::NodeChanged(const api::Node& node, const drain::Settings& settings) {
  const std::string& name = node.metadata.name;
  const drain::DrainState state = drain::DrainStateOf(node);
  const bool has_request = state.asked || !state.misunderstood.empty();
  auto known = nodes_.find(name);
  if (known == nodes_.end() && !has_request) return;
  if (known == nodes_.end()) known = nodes_.emplace(name, std::make_unique<RequestedDrain>(*this, name)).first;
  known->second->See(node, settings);
  if (!has_request && known->second->is_idle()) nodes_.erase(known);
}

void DrainController::NodeGone(const std::string& name) {
  nodes_.erase(name);
  conditions_.Forget(name);
  errors_.erase(name);
  answered_.erase(name);
}

}  // namespace pintle::controller
