// SPDX-License-Identifier: Apache-2.0
#include "agent/node_report.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "agent/events.h"
#include "api/annotations.h"
#include "api/rollout_policy.h"
#include "base/first_characters.h"
#include "base/printable.h"
#include "drain/protocol.h"

namespace pintle::agent {
namespace {

// The Machine Config Operator has the same limit.
constexpr std::size_t kLongestReason = 2000;
// The value of the annotation that reports a login.
constexpr const char* kAccessed = "accessed";
// At most this many conditions wait until the Node is seen; the oldest ones are dropped.
constexpr std::size_t kMostUnwritten = 32;

bool IsFault(std::string_view state) { return state == api::kStateDegraded || state == api::kStateUnreconcilable; }

// Makes one report, for the occurrence with which it is called.
class Reporter {
 public:
  Reporter(Reported& reported, const NodeView& view) : reported_(reported), view_(view) {}

  NodeReport Take() { return std::move(report_); }

  void operator()(const report::NodeSeen&) {
    // If an annotation of the Node records that the machine was about to reboot, the reboot is reported first.  The
    // moments that waited for the Node follow.
    if (!reported_.unwritten.empty()) ClearPastAction();
    for (ProgressReport& progress : std::exchange(reported_.unwritten, {})) Add(std::move(progress));
    if (const auto failure = std::exchange(reported_.finalize_failure, std::nullopt)) {
      (*this)(report::FinalizeFailed{*failure});
    }
    if (const auto goal = std::exchange(reported_.settled_unseen, std::nullopt)) (*this)(report::Settled{*goal});
  }

  // Publishes the state again.
  void operator()(const report::ReportsLost&) {
    if (!reported_.fault.empty()) return (*this)(report::Failed{reported_.fault_kind, reported_.fault});
    if (const auto goal = reported_.settled_with) return (*this)(report::Settled{*goal});
    if (reported_.overall == Reported::Overall::kBusy) {
      Annotate({{std::string(api::kStateAnnotation), std::string(api::kStateWorking)}});
    }
  }

  void operator()(const report::DrainNeeded& drain) {
    const std::string request = drain::Request{drain::Verb::kDrain, drain.goal.config}.ToText();
    if (view_.Annotation(api::kControlPlaneTopologyAnnotation) == api::kSingleReplicaTopology) {
      Emit(kube::EventKind::kNormal, "Drain", "Drain not required, skipping");
      report_.log.emplace_back("Drain not required, skipping");
      Add(progress::DrainNotRequired());
      report_.drain = NodeReport::Drain::kNotRequired;
      return;
    }
    // An earlier drain counts only if no uncordon was requested since then: the controller may carry out the uncordon
    // at any time.
    const bool is_asked = view_.Annotation(api::kDesiredDrainAnnotation) == request;
    if (is_asked && view_.Annotation(api::kLastAppliedDrainAnnotation) == request) {
      report_.log.emplace_back("drain is already completed on this node");
      report_.drain = NodeReport::Drain::kDoneBefore;
      return;
    }
    if (!is_asked) {
      Emit(kube::EventKind::kNormal, "Cordon", "Cordoned node to apply update");
      Emit(kube::EventKind::kNormal, "Drain", "Draining node to update config.");
      report_.log.emplace_back("requesting cordon and drain via annotation to controller");
    }
    Ask(request);
  }

  void operator()(const report::WorkBegan& work) {
    ClearPastAction();
    reported_.overall = Reported::Overall::kBusy;
    reported_.settled_with.reset();
    reported_.irreconcilable.reset();
    Add(progress::NeedsUpdate(view_.name));
    Add(progress::Prepared(work.actions, work.drains));
    // The reason of a fault stays visible until the fault is over.
    if (IsFault(view_.Annotation(api::kStateAnnotation))) return;
    Annotate({{std::string(api::kStateAnnotation), std::string(api::kStateWorking)}});
  }

  void operator()(const report::ApplyingBegan& change) {
    if (!change.drains) {
      report_.log.emplace_back("Changes do not require drain, skipping.");
      Add(progress::DrainNotRequired());
    }
    AddAll(progress::Applying(change.difference));
    if (change.difference.os_image) {
      Emit(kube::EventKind::kNormal, "InClusterUpgrade", "Updating from oscontainer " + change.os_image);
    }
    if (const std::string changes = change.difference.OsChanges(); !changes.empty()) {
      Emit(kube::EventKind::kNormal, "OSUpdateStarted", changes);
    }
  }

  void operator()(const report::ChangeEnded& change) {
    AddAll(progress::Applied(change.difference));
    if (!change.difference.OsChanges().empty()) {
      Emit(kube::EventKind::kNormal, "OSUpdateStaged", "Changes to OS staged");
    }
    if (!change.needs_reboot) {
      for (const plan::Action& action : change.actions) {
        const auto [event, message] = EventFor(action);
        if (event != nullptr) Emit(kube::EventKind::kNormal, event, message);
        if (auto done = progress::Done(action)) Add(*std::move(done));
      }
    }
    reported_.fault.clear();
    Add(progress::NotDegraded(view_.name));
  }

  void operator()(const report::RebootBegins& reboot) {
    Emit(kube::EventKind::kNormal, "Reboot", reboot.why);
    reported_.is_past_action_cleared = true;
    Add(progress::RebootNeeded());
    Annotate({{std::string(api::kPostConfigActionAnnotation), std::string(api::kStateRebooting)}});
    report_.next = NodeReport::Next::kReportReboot;
  }

  void operator()(const report::Settled& settled) {
    if (view_.node == nullptr) {
      reported_.settled_unseen = settled.goal;
      return;
    }
    // If the Node names another config by now, this report would be outdated.  The agent gets that goal soon.
    const std::string desired = view_.Annotation(api::kDesiredConfigAnnotation);
    if (!desired.empty() && desired != settled.goal.config) return;
    reported_.settled_with = settled.goal;
    ClearPastAction();
    const bool was_faulty = IsFault(view_.Annotation(api::kStateAnnotation));
    const bool had_fault = !std::exchange(reported_.fault, "").empty();
    if (had_fault || (was_faulty && reported_.overall == Reported::Overall::kNothing)) {
      Add(progress::NotDegraded(view_.name));
    }
    if (Resumes(settled.goal)) Add(progress::Resuming(settled.goal.config));
    report_.settled = settled.goal;
    const std::string asked = view_.Annotation(api::kDesiredDrainAnnotation);
    const bool is_answered = asked == view_.Annotation(api::kLastAppliedDrainAnnotation);
    if (!asked.starts_with(api::kDrainPrefix) && is_answered) return Settle(settled.goal);
    // Ask for the uncordon, so that the node's pods may come back.
    Ask(UncordonFor(settled.goal.config));
  }

  void operator()(const report::Uncordoned& uncordoned) {
    Emit(kube::EventKind::kNormal, "Uncordon",
         fmt::format("Update completed for config {} and node has been uncordoned", uncordoned.goal.config));
    Settle(uncordoned.goal);
  }

  void operator()(const report::SettledWritten&) {
    // Other work may have begun meanwhile.
    if (reported_.overall == Reported::Overall::kSettled) AddUpdated();
  }

  void operator()(const report::Failed& failed) {
    reported_.settled_unseen.reset();
    reported_.settled_with.reset();
    ClearPastAction();
    if (failed.fault == Fault::kRejected) AllowPods();
    AddFault(failed);
    const bool is_unreconcilable = failed.fault == Fault::kUnreconcilable;
    AnnotationChanges changes = {
        {std::string(api::kStateAnnotation),
         std::string(is_unreconcilable ? api::kStateUnreconcilable : api::kStateDegraded)},
        {std::string(api::kReasonAnnotation), FirstCharacters(PrintableLines(failed.text), kLongestReason)}};
    if (Has(changes)) return;
    if (is_unreconcilable) Emit(kube::EventKind::kWarning, "FailedToReconcile", failed.text);
    if (failed.fault == Fault::kDrift) Emit(kube::EventKind::kWarning, "ConfigDriftDetected", failed.text);
    Annotate(std::move(changes));
  }

  void operator()(const report::Irreconcilable& irreconcilable) {
    reported_.irreconcilable = irreconcilable.changes;
    if (reported_.overall == Reported::Overall::kSettled) AddUpdated();
  }

  void operator()(const report::FinalizeFailed& failed) {
    if (view_.node == nullptr) {
      reported_.finalize_failure = failed.text;
      return;
    }
    const std::string text = FirstCharacters(PrintableLines(failed.text), kLongestReason);
    if (text == view_.Annotation(api::kFinalizeFailureAnnotation)) return;
    report_.finalize_failure = text;
    Annotate({{std::string(api::kFinalizeFailureAnnotation), text}});
  }

  // The source names a goal to stage only after the Node was seen.
  void operator()(const report::Staged& staged) {
    const auto& [how, goal, why] = staged.report;
    const std::string target = TargetText(goal);
    // After a restart of the agent, an older report stays until the goal has been staged again.
    const bool was_staged = how == StagingReport::How::kUnderWay && view_.Annotation(api::kStagedAnnotation) == target;
    std::optional<std::string> staged_text;
    std::optional<std::string> unstageable_text;
    if (how == StagingReport::How::kStaged || was_staged) staged_text = target;
    if (how == StagingReport::How::kUnstageable) {
      unstageable_text = FirstCharacters(PrintableLines(why), kLongestReason);
    }
    AnnotationChanges changes = {{std::string(api::kStagedAnnotation), std::move(staged_text)},
                                 {std::string(api::kUnstageableAnnotation), std::move(unstageable_text)}};
    if (!Has(changes)) Annotate(std::move(changes));
  }

  void operator()(const report::LoggedIn&) {
    AnnotationChanges changes = {{std::string(api::kSshAnnotation), kAccessed}};
    if (!Has(changes)) Annotate(std::move(changes));
  }

 private:
  static std::string UncordonFor(std::string_view config) {
    return drain::Request{drain::Verb::kUncordon, std::string(config)}.ToText();
  }

  void Emit(kube::EventKind kind, std::string reason, std::string message) {
    if (view_.node != nullptr) report_.events.push_back({kind, std::move(reason), std::move(message)});
  }

  // Returns whether the Node is known to have these annotations already.  This is not known if the report has another
  // write before this one.
  bool Has(const AnnotationChanges& changes) const { return report_.annotations.empty() && view_.Has(changes); }

  void Annotate(AnnotationChanges changes) { report_.annotations.push_back(std::move(changes)); }

  void Add(ProgressReport progress) {
    if (view_.node != nullptr) return report_.conditions.push_back(std::move(progress));
    if (reported_.unwritten.size() >= kMostUnwritten) reported_.unwritten.pop_front();
    reported_.unwritten.push_back(std::move(progress));
  }

  void AddAll(std::vector<ProgressReport> progress_reports) {
    for (ProgressReport& progress : progress_reports) Add(std::move(progress));
  }

  void AddUpdated() {
    Add(reported_.irreconcilable ? progress::UpdatedBut(view_.name, *reported_.irreconcilable)
                                 : progress::Updated(view_.name));
  }

  // Removes the annotation for the action that followed the last change.  The action is done: if it was a reboot, this
  // agent runs because of it.
  void ClearPastAction() {
    if (view_.node == nullptr || std::exchange(reported_.is_past_action_cleared, true)) return;
    const std::string action = view_.Annotation(api::kPostConfigActionAnnotation);
    if (action == api::kStateRebooting) Add(progress::Rebooted());
    if (!action.empty()) Annotate({{std::string(api::kPostConfigActionAnnotation), ""}});
  }

  void Ask(const std::string& request) {
    Annotate({{std::string(api::kDesiredDrainAnnotation), request}});
    report_.drain = NodeReport::Drain::kAsked;
    report_.drain_request = request;
  }

  // The machine has its old state again, which was healthy, so its pods may come back.
  void AllowPods() {
    if (!view_.Annotation(api::kDesiredDrainAnnotation).starts_with(api::kDrainPrefix)) return;
    Annotate(
        {{std::string(api::kDesiredDrainAnnotation), UncordonFor(view_.Annotation(api::kCurrentConfigAnnotation))}});
  }

  // Returns whether the node settles after work.  If it has been settled since before the agent started, there is
  // nothing to report.
  bool Resumes(const Goal& goal) const {
    if (reported_.overall != Reported::Overall::kNothing) return reported_.overall == Reported::Overall::kBusy;
    return view_.Annotation(api::kStateAnnotation) != api::kStateDone ||
           view_.Annotation(api::kCurrentConfigAnnotation) != goal.config ||
           view_.Annotation(api::kCurrentImageAnnotation) != goal.image;
  }

  void Settle(const Goal& goal) {
    const auto or_nothing = [](const std::string& text) { return text.empty() ? std::nullopt : std::optional(text); };
    AnnotationChanges changes = {
        {std::string(api::kStateAnnotation), std::string(api::kStateDone)},
        {std::string(api::kCurrentConfigAnnotation), goal.config},
        {std::string(api::kReasonAnnotation), ""},
        {std::string(api::kCurrentImageAnnotation), or_nothing(goal.image)},
    };
    if (view_.Annotation(api::kDesiredImageAnnotation).empty()) {
      changes.emplace(api::kDesiredImageAnnotation, std::nullopt);
    }
    if (Resumes(goal) && !reported_.has_settled) Add(progress::Resumed(goal.config));
    reported_.has_settled = true;
    reported_.overall = Reported::Overall::kSettled;
    if (Has(changes)) return AddUpdated();
    Emit(kube::EventKind::kNormal, "NodeDone",
         fmt::format("Setting node {}, currentConfig {} to Done", view_.name, goal.config));
    Annotate(std::move(changes));
    report_.next = NodeReport::Next::kReportSettled;
  }

  // A node with a fault is reported as not updated in any case.  A fault with an unchanged text is not reported again.
  void AddFault(const report::Failed& failed) {
    reported_.overall = Reported::Overall::kBusy;
    reported_.fault_kind = failed.fault;
    if (std::exchange(reported_.fault, failed.text) == failed.text) return;
    Add(progress::NeedsUpdate(view_.name));
    if (failed.fault == Fault::kUnreconcilable) {
      const std::string from = view_.Annotation(api::kCurrentConfigAnnotation);
      const std::string to = view_.Annotation(api::kDesiredConfigAnnotation);
      // The condition begins with the same information in other words, so the beginning of the text is left out.
      const std::string known = fmt::format("can't reconcile config {} with {}: ", from, to);
      Add(progress::NotCompatible(from, to,
                                  failed.text.starts_with(known) ? failed.text.substr(known.size()) : failed.text));
    }
    Add(progress::Degraded(view_.name, failed.text));
  }

  Reported& reported_;
  const NodeView& view_;
  NodeReport report_;
};

}  // namespace

std::string NodeView::Annotation(std::string_view key) const {
  const std::string* value = node == nullptr ? nullptr : api::Find(node->metadata.annotations, key);
  return value == nullptr ? "" : *value;
}

bool NodeView::Has(const AnnotationChanges& annotations) const {
  if (node == nullptr || is_being_written) return false;
  return std::all_of(annotations.begin(), annotations.end(), [&](const auto& change) {
    const std::string* value = api::Find(node->metadata.annotations, change.first);
    return change.second ? value != nullptr && *value == *change.second : value == nullptr;
  });
}

NodeReport ReportOn(Reported& reported, const NodeView& view, const report::Occurrence& occurrence) {
  Reporter reporter(reported, view);
  std::visit(reporter, occurrence);
  return reporter.Take();
}

}  // namespace pintle::agent
