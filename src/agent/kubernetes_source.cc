// SPDX-License-Identifier: Apache-2.0
#include "agent/kubernetes_source.h"

#include <fmt/chrono.h>
#include <fmt/core.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "agent/events.h"
#include "agent/initial_annotations.h"
#include "agent/server_authorities.h"
#include "api/annotations.h"
#include "base/first_characters.h"
#include "base/log.h"
#include "base/printable.h"
#include "base/time_span.h"
#include "drain/protocol.h"
#include "kube/resource_version.h"

namespace pintle::agent {
namespace {

// As the Machine Config Operator has it.
constexpr std::size_t kLongestReason = 2000;
constexpr auto kConnectAgain = std::chrono::seconds(2);
constexpr const char* kAccessed = "accessed";
// Of the conditions, with which others of the Machine Config Operator write theirs.
constexpr const char* kConditionsManager = "machine-config-operator";
constexpr std::size_t kMostUnsaid = 32;
// For a server that is away for a moment.  When that did not help, whoever asks does so again by himself.
constexpr int kTriesOfAFetch = 5;

bool IsOlder(const api::Node& node, const api::Node& known) {
  return node.metadata.uid == known.metadata.uid &&
         kube::IsLater(known.metadata.resource_version, node.metadata.resource_version);
}

std::string DrainFor(const Goal& goal) { return drain::Request{drain::Verb::kDrain, goal.config}.ToText(); }
std::string UncordonFor(const Goal& goal) { return drain::Request{drain::Verb::kUncordon, goal.config}.ToText(); }

// Events of what is in no namespace are kept in one all the same.
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
      too_late_(loop,
                [this] {
                  const Asked asked = *std::exchange(asked_, std::nullopt);
                  Post(kube::EventKind::kWarning, asked.event, asked.too_late);
                  listener_.failed(asked.too_late);
                }),
      connect_again_(loop, [this] { Connect(); }),
      reboot_(loop, [this] {
        if (const auto told = std::exchange(reboot_told_, nullptr)) told();
      }) {}

KubernetesSource::~KubernetesSource() = default;

void KubernetesSource::Begin(Listener listener) {
  listener_ = std::move(listener);
  KeepFirstKubeconfigPrivate();
  Connect();
}

// Ignition has made it readable for everyone, and so may a person.
void KubernetesSource::KeepFirstKubeconfigPrivate() {
  const auto changed = MakeFirstKubeconfigPrivate(root_);
  if (!changed) {
    log::Warning(fmt::format("failed to reset permission for {}: {}; run `chmod 0600 {}`", kFirstKubeconfig,
                             changed.error().message(), kFirstKubeconfig),
                 kTrouble);
  } else if (*changed) {
    log::Notice(fmt::format("{} has a token in it, and only root may read it now (mode 0600)", kFirstKubeconfig),
                kFileWritten);
  }
}

// The kubelet may get its credentials only later.
void KubernetesSource::Connect() {
  const auto connected = TryToConnect();
  if (connected) return;
  Tell(connected.error().message());
  connect_again_.After(kConnectAgain);
}

Result<> KubernetesSource::TryToConnect() {
  auto access = TRY(kube::Access::FromKubeconfig(settings_.kubeconfig));
  client_ = TRY(kube::Client::Create(loop_, std::move(access), {.field_manager = "machine-config-daemon"}));
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
                                                                Tell(write_trouble_);
                                                              }});
  conditions_ = std::make_unique<NodeConditionsWriter>(loop_, client_->As(kConditionsManager), clock_,
                                                       NodeConditionsWriter::Listener{[this] { TellOfReboot(); }});
  if (!unwritten_.empty()) writer_->Write(std::exchange(unwritten_, {}));
  TRY(BeginTrust());
  kube::Mirror<api::Node>::Listener listener;
  listener.added = [this](const api::Node& node) { See(node); };
  listener.changed = [this](const api::Node&, const api::Node& node) { See(node); };
  listener.removed = [this](const api::Node&) { node_.reset(); };
  listener.synced = [this] { Tell(node_ ? write_trouble_ : fmt::format("there is no Node {} yet", settings_.node)); };
  listener.trouble = [this](const Error& error) { Tell(error.message()); };
  nodes_ = std::make_unique<kube::Mirror<api::Node>>(
      *client_, kube::Selection{.field_selector = "metadata.name=" + settings_.node}, std::move(listener));
  return {};
}

Result<> KubernetesSource::BeginTrust() {
  ClusterTrust::NodeOfThis node;
  node.said = [this](std::string_view annotation) {
    return node_ ? std::optional(AnnotationOr(annotation, "")) : std::nullopt;
  };
  node.write = [this](AnnotationChanges changes) {
    if (!IsSo(changes)) Write(std::move(changes));
  };
  trust_ = TRY(ClusterTrust::Begin(loop_, *client_, root_, clock_, std::move(node),
                                   {.unusable = listener_.unusable, .trust_server = listener_.trust_server}));
  return {};
}

// Each trouble is said once, and that it is over.
void KubernetesSource::Tell(const std::string& trouble) {
  if (trouble == trouble_) return;
  if (trouble.empty()) {
    log::Info("the API server can be reached again");
  } else {
    log::Warning(fmt::format("the API server: {}", trouble), kNoApiServer);
  }
  trouble_ = trouble;
}

void KubernetesSource::See(const api::Node& node) {
  if (node_ && IsOlder(node, *node_)) return;
  const bool is_first = !node_;
  node_ = node;
  Tell(write_trouble_);
  // A fault was before it could be known that the node has rebooted.
  if (!unsaid_.empty()) BeginReporting();
  for (Moment& moment : std::exchange(unsaid_, {})) Say(std::move(moment));
  if (is_first && AnnotationOr(api::kCurrentConfigAnnotation, "").empty()) WriteInitialAnnotations();
  CheckAnswer();
  trust_->NodeIsSeen();
  if (finalize_failure_) ReportFinalizeFailure(*finalize_failure_);
  if (const auto settled = std::exchange(settled_unseen_, std::nullopt)) ReportSettled(*settled);
  const Goal wanted = {AnnotationOr(api::kDesiredConfigAnnotation, ""), AnnotationOr(api::kDesiredImageAnnotation, "")};
  if (wanted.config.empty() || told_ == wanted) return;
  told_ = wanted;
  listener_.wanted(wanted);
}

void KubernetesSource::WriteInitialAnnotations() {
  auto annotations = ReadInitialAnnotations(root_);
  if (!annotations) return listener_.failed(annotations.error().message());
  AnnotationChanges changes(annotations->begin(), annotations->end());
  if (!changes.empty()) Write(std::move(changes));
}

// ---- configs --------------------------------------------------------------------------------------------------------

void KubernetesSource::Fetch(const std::optional<Goal>& current, const Goal& wanted,
                             std::function<void(Result<SurveyRequest> request)> done) {
  std::optional<Goal> assumed;
  if (const std::string name = AnnotationOr(api::kCurrentConfigAnnotation, ""); !current && !name.empty()) {
    assumed = Goal{name, AnnotationOr(api::kCurrentImageAnnotation, "")};
  }
  if (current == wanted) {
    return loop_.Post([done = std::move(done),
                       request = SurveyRequest{.looked_after = trust_ ? trust_->LookedAfter() : change::Things()}] {
      done(request);
    });
  }
  if (!client_) {
    return loop_.Post([done = std::move(done), trouble = trouble_] { done(Error(ErrorKind::kUnavailable, trouble)); });
  }
  const int tries = has_fetch_failed_ ? 1 : kTriesOfAFetch;
  fetching_ = std::make_shared<SurveyFetch>(client_->Trying(tries, {}),
                                            [this, done = std::move(done)](Result<SurveyRequest> request) {
                                              const auto finished = std::move(fetching_);
                                              has_fetch_failed_ = !request;
                                              if (request) request->looked_after = trust_->LookedAfter();
                                              done(std::move(request));
                                            });
  fetching_->Begin(assumed, wanted);
}

// ---- drains ---------------------------------------------------------------------------------------------------------

void KubernetesSource::AskForDrain(const Goal& goal) {
  const std::string value = DrainFor(goal);
  if (AnnotationOr(api::kControlPlaneTopologyAnnotation, "") == api::kSingleReplicaTopology) {
    Post(kube::EventKind::kNormal, "Drain", "Drain not required, skipping");
    log::Info("Drain not required, skipping");
    Say(moment::DrainNotRequired());
    return loop_.Post([this] { listener_.drained(); });
  }
  if (AnnotationOr(api::kLastAppliedDrainAnnotation, "") == value) {
    log::Info("drain is already completed on this node");
    return loop_.Post([this] { listener_.drained(); });
  }
  if (AnnotationOr(api::kDesiredDrainAnnotation, "") != value) {
    Post(kube::EventKind::kNormal, "Cordon", "Cordoned node to apply update");
    Post(kube::EventKind::kNormal, "Drain", "Draining node to update config.");
    log::Info("requesting cordon and drain via annotation to controller");
  }
  Write({{std::string(api::kDesiredDrainAnnotation), value}});
  Await(value, settings_.drain_timeout, "FailedToDrain",
        fmt::format("failed to drain node: {} after {}. Please see machine-config-controller logs for more information",
                    settings_.node, InWords(settings_.drain_timeout)),
        [this] {
          log::Info("drain complete");
          listener_.drained();
        });
}

void KubernetesSource::Await(std::string for_what, std::chrono::nanoseconds patience, const char* event,
                             std::string too_late, std::function<void()> answered) {
  asked_ = Asked{std::move(for_what), std::move(answered), event, std::move(too_late)};
  too_late_.After(patience);
  loop_.Post([this] { CheckAnswer(); });
}

void KubernetesSource::CheckAnswer() {
  if (!asked_ || AnnotationOr(api::kLastAppliedDrainAnnotation, "") != asked_->for_what) return;
  if (AnnotationOr(api::kDesiredDrainAnnotation, "") != asked_->for_what) return;
  too_late_.Cancel();
  const Asked asked = *std::exchange(asked_, std::nullopt);
  asked.answered();
}

void KubernetesSource::StopWaiting() {
  asked_.reset();
  too_late_.Cancel();
  fetching_.reset();
}

// ---- reports --------------------------------------------------------------------------------------------------------

void KubernetesSource::BeginReporting() {
  if (!node_ || std::exchange(has_reported_, true)) return;
  // What was to follow the last change has, or else we would not be here.
  if (AnnotationOr(api::kPostConfigActionAnnotation, "") == api::kStateRebooting) Say(moment::Rebooted());
  if (!AnnotationOr(api::kPostConfigActionAnnotation, "").empty()) {
    Write({{std::string(api::kPostConfigActionAnnotation), ""}});
  }
}

void KubernetesSource::ReportWork(const Prepared& change) {
  BeginReporting();
  log::Info(fmt::format("Starting update from {} to {}", GoalOf(change.from).config, GoalOf(change.to).config));
  said_ = Said::kBusy;
  irreconcilable_.reset();
  Say(moment::NeedsUpdate(settings_.node));
  Say(moment::Prepared(change.plan.actions, change.plan.drain.is_needed));
  // Why it is in trouble stays to be seen until it is not any more.
  const std::string state = AnnotationOr(api::kStateAnnotation, "");
  if (state == api::kStateDegraded || state == api::kStateUnreconcilable) return;
  Write({{std::string(api::kStateAnnotation), std::string(api::kStateWorking)}});
}

void KubernetesSource::ReportChanging(const Prepared& change) {
  if (!change.plan.drain.is_needed) {
    log::Info("Changes do not require drain, skipping.");
    Say(moment::DrainNotRequired());
  }
  SayAll(moment::Applying(change.plan.difference));
  if (change.plan.difference.os_image) {
    Post(kube::EventKind::kNormal, "InClusterUpgrade",
         fmt::format("Updating from oscontainer {}", change.to.object.spec.os_image_url));
  }
  if (const std::string what = change.plan.difference.OsChanges(); !what.empty()) {
    Post(kube::EventKind::kNormal, "OSUpdateStarted", what);
  }
}

void KubernetesSource::ReportChanged(const Prepared& change, bool needs_reboot) {
  SayAll(moment::Applied(change.plan.difference));
  if (!change.plan.difference.OsChanges().empty()) {
    Post(kube::EventKind::kNormal, "OSUpdateStaged", "Changes to OS staged");
  }
  if (!needs_reboot) {
    for (const plan::Action& action : change.plan.actions) {
      const auto [event, message] = EventFor(action);
      if (event != nullptr) Post(kube::EventKind::kNormal, event, message);
      if (auto done = moment::Done(action)) Say(*std::move(done));
    }
  }
  fault_said_.clear();
  Say(moment::NotDegraded(settings_.node));
}

void KubernetesSource::ReportReboot(const std::string& why, std::function<void()> told) {
  Post(kube::EventKind::kNormal, "Reboot", why);
  reboot_told_ = std::move(told);
  reboot_.After(settings_.reboot_patience);
  has_reported_ = true;
  is_reboot_written_ = false;
  Say(moment::RebootNeeded());
  Write({{std::string(api::kPostConfigActionAnnotation), std::string(api::kStateRebooting)}}, [this] {
    is_reboot_written_ = true;
    TellOfReboot();
  });
}

void KubernetesSource::TellOfReboot() {
  if (!is_reboot_written_ || !conditions_->is_idle()) return;
  reboot_.Cancel();
  if (const auto told = std::exchange(reboot_told_, nullptr)) told();
}

void KubernetesSource::ReportSettled(const Goal& goal) {
  KeepFirstKubeconfigPrivate();
  if (!node_) {
    settled_unseen_ = goal;
    return;
  }
  // It is as it was, and is to be something else, which has not come to be known yet.
  if (const std::string desired = AnnotationOr(api::kDesiredConfigAnnotation, "");
      !desired.empty() && desired != goal.config) {
    return;
  }
  BeginReporting();
  ForgetInitialAnnotations();
  const std::string state = AnnotationOr(api::kStateAnnotation, "");
  const bool was_degraded = state == api::kStateDegraded || state == api::kStateUnreconcilable;
  if (!std::exchange(fault_said_, "").empty() || (was_degraded && said_ == Said::kNothing)) {
    Say(moment::NotDegraded(settings_.node));
  }
  if (Resumes(goal)) Say(moment::Resuming(goal.config));
  const std::string asked = AnnotationOr(api::kDesiredDrainAnnotation, "");
  const std::string answered = AnnotationOr(api::kLastAppliedDrainAnnotation, "");
  if (!asked.starts_with(api::kDrainPrefix) && asked == answered) return Settle(goal);
  // The node's pods may come back.
  const std::string value = UncordonFor(goal);
  Write({{std::string(api::kDesiredDrainAnnotation), value}});
  Await(value, settings_.uncordon_timeout, "FailedToUncordon",
        fmt::format("failed to uncordon node: {} after {}. Please see machine-config-controller logs for more "
                    "information",
                    settings_.node, InWords(settings_.uncordon_timeout)),
        [this, goal] {
          Post(kube::EventKind::kNormal, "Uncordon",
               fmt::format("Update completed for config {} and node has been uncordoned", goal.config));
          Settle(goal);
        });
}

// The machine is what it was before, and that was well.
void KubernetesSource::AllowPods() {
  if (!AnnotationOr(api::kDesiredDrainAnnotation, "").starts_with(api::kDrainPrefix)) return;
  const Goal current = {AnnotationOr(api::kCurrentConfigAnnotation, "")};
  Write({{std::string(api::kDesiredDrainAnnotation), UncordonFor(current)}});
}

void KubernetesSource::Settle(const Goal& goal) {
  const auto or_nothing = [](const std::string& text) { return text.empty() ? std::nullopt : std::optional(text); };
  AnnotationChanges changes = {
      {std::string(api::kStateAnnotation), std::string(api::kStateDone)},
      {std::string(api::kCurrentConfigAnnotation), goal.config},
      {std::string(api::kReasonAnnotation), ""},
      {std::string(api::kCurrentImageAnnotation), or_nothing(goal.image)},
  };
  if (AnnotationOr(api::kDesiredImageAnnotation, "").empty()) {
    changes.emplace(api::kDesiredImageAnnotation, std::nullopt);
  }
  if (Resumes(goal) && !has_settled_) Say(moment::Resumed(goal.config));
  has_settled_ = true;
  said_ = Said::kSettled;
  if (IsSo(changes)) return SayUpdated();
  Post(kube::EventKind::kNormal, "NodeDone",
       fmt::format("Setting node {}, currentConfig {} to Done", settings_.node, goal.config));
  Write(std::move(changes), [this] {
    // There may be other work by now.
    if (said_ == Said::kSettled) SayUpdated();
  });
}

// What has been so since before we started need not be said.
bool KubernetesSource::Resumes(const Goal& goal) const {
  if (said_ != Said::kNothing) return said_ == Said::kBusy;
  return AnnotationOr(api::kStateAnnotation, "") != api::kStateDone ||
         AnnotationOr(api::kCurrentConfigAnnotation, "") != goal.config ||
         AnnotationOr(api::kCurrentImageAnnotation, "") != goal.image;
}

void KubernetesSource::ForgetInitialAnnotations() {
  if (const auto kept = KeepInitialAnnotationsAside(root_); !kept) {
    log::Warning(fmt::format("putting the first annotations aside: {}", kept.error().message()), kTrouble);
  }
}

void KubernetesSource::ReportFault(Fault fault, const std::string& text) {
  settled_unseen_.reset();
  // Nobody waits to say that all is well; what the controller has been asked for it does all the same.
  StopWaiting();
  BeginReporting();
  if (fault == Fault::kRejected) AllowPods();
  SayFault(fault, text);
  const bool is_unreconcilable = fault == Fault::kUnreconcilable;
  const std::string state{is_unreconcilable ? api::kStateUnreconcilable : api::kStateDegraded};
  AnnotationChanges changes = {
      {std::string(api::kStateAnnotation), state},
      {std::string(api::kReasonAnnotation), FirstCharacters(PrintableLines(text), kLongestReason)}};
  if (IsSo(changes)) return;
  if (is_unreconcilable) Post(kube::EventKind::kWarning, "FailedToReconcile", text);
  if (fault == Fault::kDrift) Post(kube::EventKind::kWarning, "ConfigDriftDetected", text);
  Write(std::move(changes));
}

// ---- conditions -----------------------------------------------------------------------------------------------------

void KubernetesSource::Say(Moment moment) {
  if (conditions_ && node_) return conditions_->Write(std::move(moment), FactsOf(*node_));
  if (unsaid_.size() >= kMostUnsaid) unsaid_.pop_front();
  unsaid_.push_back(std::move(moment));
}

void KubernetesSource::SayUpdated() {
  Say(irreconcilable_ ? moment::UpdatedBut(settings_.node, *irreconcilable_) : moment::Updated(settings_.node));
}

void KubernetesSource::SayAll(std::vector<Moment> moments) {
  for (Moment& moment : moments) Say(std::move(moment));
}

// A node that is in trouble is not updated, whatever it is; what had no trouble before is over with that.
void KubernetesSource::SayFault(Fault fault, const std::string& text) {
  said_ = Said::kBusy;
  if (std::exchange(fault_said_, text) == text) return;
  Say(moment::NeedsUpdate(settings_.node));
  if (fault == Fault::kUnreconcilable) {
    const std::string from = AnnotationOr(api::kCurrentConfigAnnotation, "");
    const std::string to = AnnotationOr(api::kDesiredConfigAnnotation, "");
    // The text begins with what the condition says in its own words.
    const std::string known = fmt::format("can't reconcile config {} with {}: ", from, to);
    Say(moment::NotCompatible(from, to, text.starts_with(known) ? text.substr(known.size()) : text));
  }
  Say(moment::Degraded(settings_.node, text));
}

void KubernetesSource::ReportIrreconcilable(const std::vector<plan::IrreconcilableChange>& changes) {
  irreconcilable_ = changes;
  if (said_ == Said::kSettled) SayUpdated();
}

// One that is over is not told of any more.
void KubernetesSource::ReportFinalizeFailure(const std::string& text) {
  finalize_failure_ = text;
  if (!node_) return;
  const std::string failure = PrintableLines(*std::exchange(finalize_failure_, std::nullopt));
  const std::string told = FirstCharacters(failure, kLongestReason);
  if (told == AnnotationOr(api::kFinalizeFailureAnnotation, "")) return;
  if (!told.empty()) log::Warning(fmt::format("the deployment that was staged before: {}", told), kTrouble);
  Write({{std::string(api::kFinalizeFailureAnnotation), told}});
}

void KubernetesSource::ReportLogin() {
  AnnotationChanges changes = {{std::string(api::kSshAnnotation), kAccessed}};
  if (!IsSo(changes)) Write(std::move(changes));
}

// ---- annotations ----------------------------------------------------------------------------------------------------

std::string KubernetesSource::AnnotationOr(std::string_view name, std::string_view otherwise) const {
  const std::string* value = node_ ? api::Find(node_->metadata.annotations, name) : nullptr;
  return value == nullptr ? std::string(otherwise) : *value;
}

bool KubernetesSource::IsSo(const AnnotationChanges& changes) const {
  if (!node_ || !writer_->is_idle()) return false;
  return std::all_of(changes.begin(), changes.end(), [&](const auto& change) {
    const std::string* value = api::Find(node_->metadata.annotations, change.first);
    return change.second ? value != nullptr && *value == *change.second : value == nullptr;
  });
}

void KubernetesSource::Write(AnnotationChanges changes, std::function<void()> written) {
  if (writer_) {
    writer_->Write(std::move(changes), std::move(written));
  } else {
    for (auto& [name, value] : changes) unwritten_[name] = std::move(value);
  }
}

void KubernetesSource::Post(kube::EventKind kind, const char* reason, const std::string& message) {
  if (events_ && node_) events_->Post(ReferenceTo(*node_, settings_.event_namespace), kind, reason, message);
}

}  // namespace pintle::agent
