// SPDX-License-Identifier: Apache-2.0
#include "agent/kubernetes_source.h"

#include <fmt/chrono.h>
#include <fmt/core.h>

#include <utility>
#include <vector>

#include "agent/events.h"
#include "agent/initial_annotations.h"
#include "agent/server_authorities.h"
#include "api/annotations.h"
#include "api/rollout_policy.h"
#include "base/log.h"
#include "base/time_span.h"
#include "kube/resource_version.h"

namespace pintle::agent {
namespace {

// A failed attempt to connect is repeated after this time.
constexpr auto kConnectAgain = std::chrono::seconds(2);
// The agent writes conditions under the field manager that parts of the Machine Config Operator also use.
constexpr const char* kConditionsManager = "machine-config-operator";
// A fetch makes this many attempts, so that a short absence of the API server does no harm.  After a fetch that failed,
// the agent tries again, and the next fetch makes only one attempt.
constexpr int kTriesOfAFetch = 5;

// A Node has no namespace, but its Events need one.
api::ObjectReference ReferenceTo(const api::Node& node, const std::string& event_namespace) {
  api::ObjectReference reference;
  reference.kind = "Node";
  reference.namespace_name = event_namespace;
  reference.name = node.metadata.name;
  reference.uid = node.metadata.uid;
  reference.api_version = "v1";
  return reference;
}

}  // namespace

KubernetesSource::KubernetesSource(event::Loop& loop, const Root& root, const Clock& clock, KubernetesSettings settings)
    : loop_(loop),
      root_(root),
      clock_(clock),
      settings_(std::move(settings)),
      answer_timeout_(loop,
                      [this] {
                        const DrainRequest asked = *std::exchange(drain_request_, std::nullopt);
                        PostEvent(kube::EventKind::kWarning, asked.event, asked.too_late);
                        listener_.failed(asked.too_late);
                      }),
      connect_again_(loop, [this] { Connect(); }),
      reboot_report_timeout_(loop, [this] {
        if (const auto reported = std::exchange(reboot_reported_, nullptr)) reported();
      }) {}

KubernetesSource::~KubernetesSource() = default;

void KubernetesSource::Begin(Listener listener) {
  listener_ = std::move(listener);
  KeepBootstrapKubeconfigPrivate();
  Connect();
}

// Ignition makes the bootstrap kubeconfig readable for everyone, and a person may do the same later.
void KubernetesSource::KeepBootstrapKubeconfigPrivate() {
  const auto changed = MakeBootstrapKubeconfigPrivate(root_);
  if (!changed) {
    log::Warning(fmt::format("failed to reset permission for {}: {}; run `chmod 0600 {}`", kBootstrapKubeconfig,
                             changed.error().message(), kBootstrapKubeconfig),
                 kTrouble);
  } else if (*changed) {
    log::Notice(fmt::format("the mode of {} is now 0600, because the file contains a token", kBootstrapKubeconfig),
                kFileWritten);
  }
}

// Failed attempts are repeated, because the kubelet may get its credentials later.
void KubernetesSource::Connect() {
  const auto connected = TryToConnect();
  if (connected) return;
  LogTrouble(connected.error().message());
  connect_again_.After(kConnectAgain);
}

Result<> KubernetesSource::TryToConnect() {
  auto access = TRY(kube::Access::FromKubeconfig(settings_.kubeconfig));
  client_ = TRY(kube::Client::Create(loop_, std::move(access), {.field_manager = "machine-config-daemon"}));
  // `trust_` comes first, since making it can fail, and the listeners below use it.
  if (auto begun = BeginTrust(); !begun) {
    client_.reset();
    return begun;
  }
  kube::EventRecorder::Settings events;
  events.trouble = [](const Error& error) {
    log::Warning(fmt::format("posting an Event: {}", error.message()), kTrouble);
  };
  events_ = std::make_unique<kube::EventRecorder>(*client_, api::EventSource{"machineconfigdaemon", settings_.node},
                                                  clock_, std::move(events));
  writer_ = std::make_unique<NodeWriter>(loop_, *client_, settings_.node,
                                         NodeWriter::Listener{[this](const api::Node& node) {
                                                                write_trouble_.clear();
                                                                See(node);
                                                              },
                                                              [this](const Error& error) {
                                                                write_trouble_ = error.message();
                                                                LogTrouble(write_trouble_);
                                                              }});
  conditions_ = std::make_unique<NodeConditionsWriter>(loop_, client_->As(kConditionsManager), clock_,
                                                       NodeConditionsWriter::Listener{[this] { CheckRebootReport(); }});
  if (!unwritten_.empty()) writer_->Write(std::exchange(unwritten_, {}));
  kube::Mirror<api::Node>::Listener listener;
  listener.added = [this](const api::Node& node) { See(node); };
  listener.changed = [this](const api::Node& before, const api::Node& node) {
    const bool is_restored = kube::IsOlder(node, before);  // From a backup of the cluster's store.
    if (is_restored) node_ = node;
    See(node);
    if (is_restored) RepeatReports();
    RepeatStagingReport();
  };
  listener.removed = [this](const api::Node&) { node_.reset(); };
  listener.synced = [this] {
    LogTrouble(node_ ? write_trouble_ : fmt::format("there is no Node {} yet", settings_.node));
  };
  listener.trouble = [this](const Error& error) { LogTrouble(error.message()); };
  nodes_ = std::make_unique<kube::Mirror<api::Node>>(
      *client_, kube::Selection{.field_selector = "metadata.name=" + settings_.node}, std::move(listener));
  return {};
}

Result<> KubernetesSource::BeginTrust() {
  ClusterTrust::NodeAccess node;
  node.annotation = [this](std::string_view annotation) {
    return node_ ? std::optional(View().Annotation(annotation)) : std::nullopt;
  };
  node.write = [this](AnnotationChanges changes) {
    if (!View().Has(changes)) Write(std::move(changes));
  };
  trust_ = TRY(ClusterTrust::Begin(loop_, *client_, root_, clock_, std::move(node),
                                   {.unusable = listener_.unusable, .trust_server = listener_.trust_server}));
  return {};
}

// Logs a new trouble, and logs when it is over.
void KubernetesSource::LogTrouble(const std::string& trouble) {
  if (trouble == trouble_) return;
  if (trouble.empty()) {
    log::Info("requests to the API server succeed again");
  } else {
    log::Warning(fmt::format("the API server: {}", trouble), kNoApiServer);
  }
  trouble_ = trouble;
}

void KubernetesSource::RepeatReports() {
  Report(report::ReportsLost{});
  trust_->OnReportsLost();
}

// Someone may have removed the annotations with the report, or restored the Node from a backup.
void KubernetesSource::RepeatStagingReport() {
  if (staging_reported_ && writer_->is_idle()) Report(report::Staged{*staging_reported_});
}

// Takes over the Node as it was read or written, unless a later version of it is known.
void KubernetesSource::See(const api::Node& node) {
  if (node_ && kube::IsOlder(node, *node_)) return;
  const bool is_first = !node_;
  const std::string known_uid = std::exchange(uid_, node.metadata.uid);
  node_ = node;
  LogTrouble(write_trouble_);
  if (is_first || !why_annotations_are_unreadable_.empty()) WriteInitialAnnotations();
  CheckAnswer();
  trust_->OnNodeSeen();
  Report(report::NodeSeen{});
  if (!known_uid.empty() && known_uid != uid_) RepeatReports();
  // The controller may name a wanted config before the Node names the config that this new machine has.  If the agent
  // did not wait for the current config, it would change the machine as if the machine had no config yet.
  if (awaits_current_config_ && View().Annotation(api::kCurrentConfigAnnotation).empty()) return;
  AnnounceGoal();
  AnnounceStage();
}

void KubernetesSource::AnnounceGoal() {
  const Goal wanted = {View().Annotation(api::kDesiredConfigAnnotation),
                       View().Annotation(api::kDesiredImageAnnotation)};
  if (wanted.config.empty() || announced_ == wanted) return;
  announced_ = wanted;
  listener_.wanted(wanted);
}

void KubernetesSource::AnnounceStage() {
  std::string wanted = View().Annotation(api::kStageAnnotation);
  if (to_stage_ == wanted) return;
  to_stage_ = std::move(wanted);
  listener_.stage(to_stage_->empty() ? std::nullopt : std::optional(GoalFromTarget(*to_stage_)));
}

// Until the annotations can be read, the config that a new machine has is not known, so no goal is announced.  They are
// read again whenever the Node changes.
void KubernetesSource::WriteInitialAnnotations() {
  std::string why_unreadable;
  if (View().Annotation(api::kCurrentConfigAnnotation).empty()) {
    auto annotations = ReadInitialAnnotations(root_);
    if (annotations) {
      const auto current = annotations->find(std::string(api::kCurrentConfigAnnotation));
      awaits_current_config_ = current != annotations->end() && !current->second.empty();
      AnnotationChanges changes(annotations->begin(), annotations->end());
      if (!changes.empty()) Write(std::move(changes));
    } else {
      awaits_current_config_ = true;
      why_unreadable = fmt::format("reading the first annotations of the Node: {}", annotations.error().message());
    }
  }
  if (std::exchange(why_annotations_are_unreadable_, why_unreadable) != why_unreadable)
    listener_.unusable(why_unreadable);
}

// ---- configs --------------------------------------------------------------------------------------------------------

void KubernetesSource::Fetch(const std::optional<Goal>& current, const Goal& wanted,
                             std::function<void(Result<SurveyRequest> request)> done) {
  std::optional<Goal> assumed;
  if (const std::string name = View().Annotation(api::kCurrentConfigAnnotation); !current && !name.empty()) {
    assumed = Goal{name, View().Annotation(api::kCurrentImageAnnotation)};
  }
  if (current == wanted) {
    return loop_.Post([done = std::move(done),
                       request = SurveyRequest{.written_by_source = trust_ ? trust_->WrittenFiles()
                                                                           : change::Things()}] { done(request); });
  }
  if (!client_) {
    return loop_.Post([done = std::move(done), trouble = trouble_] { done(Error(ErrorKind::kUnavailable, trouble)); });
  }
  const int tries = has_fetch_failed_ ? 1 : kTriesOfAFetch;
  fetching_ = std::make_shared<SurveyFetch>(client_->Trying(tries, {}),
                                            [this, done = std::move(done)](Result<SurveyRequest> request) {
                                              const auto finished = std::move(fetching_);
                                              has_fetch_failed_ = !request;
                                              if (request) request->written_by_source = trust_->WrittenFiles();
                                              done(std::move(request));
                                            });
  fetching_->Begin(assumed, wanted);
}

void KubernetesSource::FetchToStage(const Goal& goal, std::function<void(Result<SurveyRequest> request)> done) {
  const auto finish = [this, done = std::move(done)](Result<SurveyRequest> request) {
    const auto finished = std::move(fetching_to_stage_);
    if (request) request->written_by_source = trust_->WrittenFiles();
    done(std::move(request));
  };
  fetching_to_stage_ = std::make_shared<SurveyFetch>(client_->Trying(kTriesOfAFetch, {}), finish);
  fetching_to_stage_->Begin(std::nullopt, goal);
}

// ---- drains ---------------------------------------------------------------------------------------------------------

void KubernetesSource::AskForDrain(const Goal& goal) { Report(report::DrainNeeded{goal}); }

void KubernetesSource::AwaitDrain(const std::string& request) {
  AwaitAnswer(
      request, settings_.drain_timeout, "FailedToDrain",
      fmt::format("failed to drain node: {} after {}. Please see machine-config-controller logs for more information",
                  settings_.node, InWords(settings_.drain_timeout)),
      [this] {
        log::Info("drain complete");
        listener_.drained();
      });
}

void KubernetesSource::AwaitUncordon(const std::string& request, const Goal& goal) {
  AwaitAnswer(request, settings_.uncordon_timeout, "FailedToUncordon",
              fmt::format("failed to uncordon node: {} after {}. Please see machine-config-controller logs for more "
                          "information",
                          settings_.node, InWords(settings_.uncordon_timeout)),
              [this, goal] { Report(report::Uncordoned{goal}); });
}

// Waits until the controller has answered the drain request `value`.  After `patience`, posts the Event `event` with
// the message `too_late`, and passes this message to the listener's `failed`.  A settled machine repeats its request
// after each look, and that does not put off the end of the wait.
void KubernetesSource::AwaitAnswer(std::string value, std::chrono::nanoseconds patience, const char* event,
                                   std::string too_late, std::function<void()> answered) {
  const bool is_awaited = drain_request_ && drain_request_->value == value;
  drain_request_ = DrainRequest{std::move(value), std::move(answered), event, std::move(too_late)};
  if (!is_awaited) answer_timeout_.After(patience);
  loop_.Post([this] { CheckAnswer(); });
}

void KubernetesSource::CheckAnswer() {
  if (!drain_request_ || View().Annotation(api::kLastAppliedDrainAnnotation) != drain_request_->value) return;
  if (View().Annotation(api::kDesiredDrainAnnotation) != drain_request_->value) return;
  answer_timeout_.Cancel();
  const DrainRequest asked = *std::exchange(drain_request_, std::nullopt);
  asked.answered();
}

void KubernetesSource::ForgetRequest() {
  drain_request_.reset();
  answer_timeout_.Cancel();
}

void KubernetesSource::StopWaiting() {
  ForgetRequest();
  fetching_.reset();
}

// ---- reports --------------------------------------------------------------------------------------------------------

NodeView KubernetesSource::View() const {
  return {.name = settings_.node,
          .node = node_ ? &*node_ : nullptr,
          .is_being_written = writer_ != nullptr && !writer_->is_idle()};
}

void KubernetesSource::Report(const report::Occurrence& occurrence) {
  NodeReport report = ReportOn(reported_, View(), occurrence);
  for (const std::string& line : report.log) log::Info(line);
  if (report.finalize_failure && !report.finalize_failure->empty()) {
    log::Warning(
        fmt::format("the deployment that was staged before this boot was not finalized: {}", *report.finalize_failure),
        kTrouble);
  }
  for (const NodeEvent& event : report.events) PostEvent(event.kind, event.reason, event.message);
  for (ProgressReport& progress : report.conditions) conditions_->Write(std::move(progress), FactsOf(*node_));
  if (report.settled) ForgetInitialAnnotations();
  for (std::size_t i = 0; i < report.annotations.size(); ++i) {
    const bool is_last = i + 1 == report.annotations.size();
    Write(std::move(report.annotations[i]), is_last ? CallFor(report.next) : nullptr);
  }
  switch (report.drain) {
    case NodeReport::Drain::kNone:
      return;
    case NodeReport::Drain::kAsked:
      return report.settled ? AwaitUncordon(report.drain_request, *report.settled) : AwaitDrain(report.drain_request);
    case NodeReport::Drain::kNotRequired:
    case NodeReport::Drain::kDoneBefore:
      return loop_.Post([this] { listener_.drained(); });
  }
}

std::function<void()> KubernetesSource::CallFor(NodeReport::Next next) {
  switch (next) {
    case NodeReport::Next::kNothing:
      return nullptr;
    case NodeReport::Next::kReportReboot:
      return [this] {
        is_reboot_written_ = true;
        CheckRebootReport();
      };
    case NodeReport::Next::kReportSettled:
      return [this] { Report(report::SettledWritten{}); };
  }
  return nullptr;
}

void KubernetesSource::ReportWork(const Prepared& change) {
  // If the wait for an earlier uncordon went on, its answer would be reported as the success of this change.  When the
  // change is settled, an uncordon without an answer is requested again.
  ForgetRequest();
  log::Info(fmt::format("Starting update from {} to {}", GoalOf(change.from).config, GoalOf(change.to).config));
  Report(report::WorkBegan{change.plan.actions, change.plan.drain.is_needed});
}

void KubernetesSource::ReportChanging(const Prepared& change) {
  Report(
      report::ApplyingBegan{change.plan.difference, change.plan.drain.is_needed, change.to.object.spec.os_image_url});
}

void KubernetesSource::ReportChanged(const Prepared& change, bool needs_reboot) {
  Report(report::ChangeEnded{change.plan.difference, change.plan.actions, needs_reboot});
}

void KubernetesSource::ReportReboot(const std::string& why, std::function<void()> reported) {
  reboot_reported_ = std::move(reported);
  reboot_report_timeout_.After(settings_.reboot_patience);
  is_reboot_written_ = false;
  Report(report::RebootBegins{why});
}

// Lets the reboot begin when the annotations and the conditions that report it are written.
void KubernetesSource::CheckRebootReport() {
  if (!is_reboot_written_ || !conditions_->is_idle()) return;
  reboot_report_timeout_.Cancel();
  if (const auto reported = std::exchange(reboot_reported_, nullptr)) reported();
}

void KubernetesSource::ReportSettled(const Goal& goal) {
  KeepBootstrapKubeconfigPrivate();
  Report(report::Settled{goal});
}

void KubernetesSource::ForgetInitialAnnotations() {
  if (const auto kept = MoveInitialAnnotationsAside(root_); !kept) {
    log::Warning(fmt::format("moving {} aside: {}", kInitialAnnotations, kept.error().message()), kTrouble);
  }
}

void KubernetesSource::ReportFault(Fault fault, const std::string& text) {
  // When an uncordon is answered, success is reported.  That must not happen after a fault, so the wait for the answer
  // ends.  The controller still carries out the request.
  StopWaiting();
  Report(report::Failed{fault, text});
}

void KubernetesSource::ReportIrreconcilable(const std::vector<plan::IrreconcilableChange>& changes) {
  Report(report::Irreconcilable{changes});
}

void KubernetesSource::ReportFinalizeFailure(const std::string& text) { Report(report::FinalizeFailed{text}); }

void KubernetesSource::ReportStaging(const StagingReport& report) {
  staging_reported_ = report;
  Report(report::Staged{report});
}

void KubernetesSource::ReportLogin() { Report(report::LoggedIn{}); }

void KubernetesSource::Write(AnnotationChanges changes, std::function<void()> written) {
  if (writer_) {
    writer_->Write(std::move(changes), std::move(written));
  } else {
    for (auto& [name, value] : changes) unwritten_[name] = std::move(value);
  }
}

void KubernetesSource::PostEvent(kube::EventKind kind, const std::string& reason, const std::string& message) {
  if (events_ && node_) events_->Post(ReferenceTo(*node_, settings_.event_namespace), kind, reason, message);
}

}  // namespace pintle::agent
