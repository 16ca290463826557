// SPDX-License-Identifier: Apache-2.0
#include "agent/state.h"

#include <utility>

namespace pintle::agent {
namespace {

using Retry = phase::Degraded::Retry;
using How = happened::Recovered::How;

// Builds one transition.
class TransitionBuilder {
 public:
  explicit TransitionBuilder(const State& state) : transition_{state, {}} {}

  TransitionBuilder& To(Phase phase) {
    transition_.next.phase = std::move(phase);
    return *this;
  }
  TransitionBuilder& Do(Effect effect) {
    transition_.effects.push_back(std::move(effect));
    return *this;
  }
  TransitionBuilder& ForgetRejection() {
    transition_.next.rejected.reset();
    return Do(effect::ForgetRejection{});
  }
  TransitionBuilder& Degrade(phase::Degraded degraded) {
    Do(effect::ReportFault{degraded.fault, degraded.text});
    if (degraded.retry != Retry::kNone) Do(effect::RetryLater{degraded.attempts});
    return To(std::move(degraded));
  }

  // Starts over with the wanted goal, whatever the phase was.
  TransitionBuilder& Begin(int attempts = 0) {
    const State& state = transition_.next;
    if (!state.wanted) {
      // This fault is usually reported when the machine settles.  Without a goal, that never happens.
      if (!state.why_unusable.empty()) Do(effect::ReportFault{Fault::kUnusable, state.why_unusable});
      return To(phase::Waiting{});
    }
    const Goal goal = *state.wanted;
    if (state.rejected && state.rejected->goal == goal) {
      return Degrade({.fault = Fault::kRejected, .text = state.rejected->why, .goal = goal});
    }
    return Look({.goal = goal, .attempts = attempts});
  }
  TransitionBuilder& Look(phase::Checking checking) {
    Do(effect::Look{checking.goal});
    return To(std::move(checking));
  }
  TransitionBuilder& Recover(int attempts = 0, std::optional<FailedChange> after = {}) {
    return Do(effect::Recover{}).To(phase::Recovering{attempts, std::move(after)});
  }
  TransitionBuilder& Reboot(RebootPurpose purpose, int attempts = 0) {
    return Do(effect::Reboot{purpose}).To(phase::Rebooting{attempts, std::move(purpose)});
  }

  operator std::optional<Transition>() { return std::move(transition_); }

 private:
  Transition transition_;
};

using MaybeTransition = std::optional<Transition>;

class Transitions {
 public:
  // `state` already has the goal that the event names.
  explicit Transitions(const State& state) : state_(state) {}

  // ---- goals --------------------------------------------------------------------------------------------------------

  MaybeTransition operator()(const phase::Waiting&, const happened::Wanted&) const { return Start().Begin(); }
  MaybeTransition operator()(const phase::Checking& checking, const happened::Wanted& wanted) const {
    return checking.goal == wanted.goal ? MaybeTransition() : Start().Begin();
  }
  MaybeTransition operator()(const phase::Draining& draining, const happened::Wanted& wanted) const {
    return draining.goal == wanted.goal ? MaybeTransition() : Start().Begin();
  }
  MaybeTransition operator()(const phase::Settled& settled, const happened::Wanted& wanted) const {
    return settled.goal == wanted.goal ? MaybeTransition() : Start().Begin();
  }
  MaybeTransition operator()(const phase::Degraded& degraded, const happened::Wanted& wanted) const {
    // The change in the journal has to end first.
    if (degraded.retry == Retry::kRecover || degraded.retry == Retry::kReboot) return KeepPhase();
    return degraded.goal == wanted.goal ? MaybeTransition() : Start().Begin();
  }
  // These phases end first.  Then the agent starts over with the new goal.
  MaybeTransition operator()(const phase::Recovering&, const happened::Wanted&) const { return KeepPhase(); }
  MaybeTransition operator()(phase::Changing changing, const happened::Wanted& wanted) const {
    if (changing.goal == wanted.goal) return KeepPhase();
    changing.is_fetch_stopped = true;
    return Start().Do(effect::StopFetching{}).To(std::move(changing));
  }
  MaybeTransition operator()(const phase::Rebooting&, const happened::Wanted&) const { return KeepPhase(); }
  MaybeTransition operator()(const phase::Confirming&, const happened::Wanted&) const { return KeepPhase(); }

  // The machine keeps its config.  In other phases, the fault is reported when the machine settles.
  MaybeTransition operator()(const phase::Waiting&, const happened::Unusable&) const {
    return state_.why_unusable.empty() ? Start().Do(effect::ReportWaiting{}) : WithUnusableFault(Start());
  }
  MaybeTransition operator()(const phase::Settled& settled, const happened::Unusable&) const {
    return Settle(settled.goal);
  }
  // A look that is held can last for days, so the fault is reported now.
  MaybeTransition operator()(const phase::Checking&, const happened::Unusable& unusable) const {
    if (!unusable.is_look_held) return {};
    return state_.why_unusable.empty() ? Start().Do(effect::ReportWaiting{}) : WithUnusableFault(Start());
  }

  // ---- after a crash or a reboot ------------------------------------------------------------------------------------

  MaybeTransition operator()(const phase::Recovering& recovering, const happened::Recovered& recovered) const {
    switch (recovered.how) {
      case How::kEnded:
        return Start().Begin(recovering.after ? recovering.after->attempts : 0);
      case How::kUndone:
        // A change that was cut short is tried again at once; a change that failed waits for its next attempt.
        return recovering.after ? Undone(*recovering.after) : MaybeTransition(Start().Begin());
      case How::kToBeConfirmed:
        return Start().Do(effect::WatchHealth{}).To(phase::Confirming{.since = recovered.at});
      case How::kRebootNeeded:
        return Start().Reboot({recovered.goal.value_or(Goal()), recovered.undoes});
    }
    return {};
  }
  MaybeTransition operator()(const phase::Recovering& recovering, const happened::Failed& failed) const {
    return Start().Degrade({.text = failed.text,
                            .retry = Retry::kRecover,
                            .attempts = recovering.attempts + 1,
                            .after = recovering.after});
  }

  MaybeTransition operator()(const phase::Confirming&, const happened::Well&) const {
    return Start().Do(effect::Confirm{}).To(phase::Recovering{});
  }
  MaybeTransition operator()(phase::Confirming confirming, const happened::NotYetWell& not_yet) const {
    ++confirming.rounds;
    return Start().Do(effect::WatchHealth{not_yet.ask_after}).To(confirming);
  }
  MaybeTransition operator()(const phase::Confirming&, const happened::Unwell& unwell) const {
    return Start().Do(effect::GoBack{unwell.why}).To(phase::Recovering{.is_going_back = true});
  }

  // ---- a look -------------------------------------------------------------------------------------------------------

  MaybeTransition operator()(const phase::Checking& checking, const happened::Looked& looked) const {
    if (looked.goal != checking.goal) return {};
    if (looked.outlook.is_outdated) return Start().Look(checking);
    // If something changed on the machine during the look, the look is repeated once.  Then the change begins, whatever
    // happened during the second look: files may change all the time, and the change itself compares the files that it
    // overwrites once more.
    const bool is_work = IsWork(looked.outlook);
    if (is_work && checking.needs_another_look && !checking.follows_another_look) {
      return Start().Look({checking.goal, checking.is_drained, checking.attempts, false, true});
    }
    TransitionBuilder next = AfterLook(checking, looked.outlook);
    if (checking.needs_another_look && !is_work) next.Do(effect::LookAgainSoon{});
    return next;
  }
  MaybeTransition operator()(const phase::Checking& checking, const happened::Failed& failed) const {
    TransitionBuilder next = Start();
    next.Degrade({Fault::kFailed, failed.text, Retry::kLook, checking.goal, checking.attempts + 1});
    if (checking.needs_another_look) next.Do(effect::LookAgainSoon{});
    return next;
  }
  MaybeTransition operator()(phase::Checking checking, const happened::Noticed&) const {
    checking.needs_another_look = true;
    return Start().To(std::move(checking));
  }

  MaybeTransition operator()(const phase::Draining& draining, const happened::Drained&) const {
    return Start().Look({.goal = draining.goal, .is_drained = true, .attempts = draining.attempts});
  }
  MaybeTransition operator()(const phase::Draining& draining, const happened::Failed& failed) const {
    return Start().Degrade({Fault::kFailed, failed.text, Retry::kLook, draining.goal, draining.attempts + 1});
  }

  // ---- a change -----------------------------------------------------------------------------------------------------

  MaybeTransition operator()(const phase::Changing& changing, const happened::Changed& changed) const {
    if (changed.needs_reboot) return Start().Reboot({.goal = changing.goal});
    return state_.wanted == changing.goal ? Settle(changing.goal) : Start().Begin();
  }
  MaybeTransition operator()(const phase::Changing& changing, const happened::Failed& failed) const {
    // A change that failed is not tried again if another goal is wanted now.
    if (state_.wanted != changing.goal) return Start().Begin();
    // The fetch was stopped for another goal, but by now the goal of this change is wanted again.  That is no fault.
    if (changing.is_fetch_stopped) return Start().Begin(changing.attempts);
    return Start().Degrade({Fault::kFailed, failed.text, Retry::kLook, changing.goal, changing.attempts + 1});
  }
  MaybeTransition operator()(const phase::Changing& changing, const happened::NotUndone& failed) const {
    return Start()
        .Do(effect::ReportFault{Fault::kFailed, failed.text})
        .Recover(0, FailedChange{changing.goal, failed.text, changing.attempts + 1});
  }
  MaybeTransition operator()(const phase::Rebooting& rebooting, const happened::Failed& failed) const {
    return Start().Degrade({.text = failed.text,
                            .retry = Retry::kReboot,
                            .attempts = rebooting.attempts + 1,
                            .reboot = rebooting.purpose});
  }

  // ---- afterwards ---------------------------------------------------------------------------------------------------

  MaybeTransition operator()(const phase::Settled& settled, const happened::Noticed&) const {
    return Start().Look({.goal = settled.goal});
  }
  MaybeTransition operator()(const phase::Settled& settled, const happened::Failed& failed) const {
    return Start().Degrade({Fault::kFailed, failed.text, Retry::kLook, settled.goal, 1});
  }
  MaybeTransition operator()(const phase::Degraded& degraded, const happened::Noticed&) const {
    if (degraded.retry != Retry::kLook) return {};
    return Start().Look({.goal = *degraded.goal, .attempts = degraded.attempts});
  }
  MaybeTransition operator()(const phase::Checking& checking, const happened::Asked&) const {
    return (*this)(checking, happened::Noticed{});
  }
  MaybeTransition operator()(const phase::Settled& settled, const happened::Asked&) const {
    return (*this)(settled, happened::Noticed{});
  }
  MaybeTransition operator()(const phase::Degraded& degraded, const happened::Asked&) const {
    if (degraded.retry == Retry::kRecover) return (*this)(degraded, happened::RetryDue{});
    return (*this)(degraded, happened::Noticed{});
  }
  MaybeTransition operator()(const phase::Degraded& degraded, const happened::RetryDue&) const {
    switch (degraded.retry) {
      case Retry::kNone:
        return {};
      case Retry::kRecover:
        return Start().Recover(degraded.attempts, degraded.after);
      case Retry::kReboot:
        return Start().Reboot(degraded.reboot, degraded.attempts);
      case Retry::kLook:
        return Start().Begin(degraded.attempts);
    }
    return {};
  }
  MaybeTransition operator()(const phase::Degraded& degraded, const happened::Pardoned&) const {
    if (degraded.fault == Fault::kRejected) return Start().ForgetRejection().Begin();
    MaybeTransition retry = (*this)(degraded, happened::RetryDue{});
    if (!state_.rejected) return retry;
    if (!retry) return Start().ForgetRejection();
    retry->next.rejected.reset();
    retry->effects.emplace_back(effect::ForgetRejection{});
    return retry;
  }
  // The rejected goal may be the one that the source wants to be staged, or the next one that it names.
  template <typename Phase>
  MaybeTransition operator()(const Phase&, const happened::Pardoned&) const {
    return state_.rejected ? MaybeTransition(Start().ForgetRejection()) : MaybeTransition();
  }

  template <typename Phase, typename Event>
  MaybeTransition operator()(const Phase&, const Event&) const {
    return {};
  }

 private:
  TransitionBuilder Start() const { return TransitionBuilder(state_); }
  MaybeTransition KeepPhase() const { return Start(); }
  static bool IsWork(const Outlook& outlook) {
    return !outlook.IsUnderWay() && outlook.drift.empty() && !outlook.has_goal && outlook.why_unreconcilable.empty();
  }
  TransitionBuilder AfterLook(const phase::Checking& checking, const Outlook& outlook) const {
    const Goal& goal = checking.goal;
    const int attempts = checking.attempts + 1;
    if (outlook.is_cut_short) return Start().Recover();
    if (!outlook.waits.empty()) return Start().Degrade({Fault::kFailed, outlook.waits, Retry::kLook, goal, attempts});
    if (!outlook.drift.empty()) {
      return Start().Degrade({Fault::kDrift, outlook.drift, Retry::kLook, goal, attempts});
    }
    if (outlook.has_goal) return Settle(goal);
    if (!outlook.why_unreconcilable.empty()) {
      return Start().Degrade({Fault::kUnreconcilable, outlook.why_unreconcilable, Retry::kLook, goal, attempts});
    }
    TransitionBuilder next = Start().Do(effect::ReportWork{goal});
    if (outlook.drains && !checking.is_drained) {
      return next.Do(effect::AskForDrain{goal}).To(phase::Draining{goal, checking.attempts});
    }
    return next.Do(effect::Change{goal}).To(phase::Changing{goal, checking.attempts});
  }
  MaybeTransition Undone(const FailedChange& failed) const {
    const bool is_rejected = state_.rejected && state_.rejected->goal == failed.goal;
    if (state_.wanted != failed.goal || is_rejected) return Start().Begin();
    return Start().Degrade(
        {Fault::kFailed, failed.text + "; the change has been undone", Retry::kLook, failed.goal, failed.attempts});
  }
  TransitionBuilder Settle(const Goal& goal) const {
    TransitionBuilder next = Start();
    next.To(phase::Settled{goal});
    return state_.why_unusable.empty() ? next.Do(effect::ReportSettled{goal}) : WithUnusableFault(std::move(next));
  }
  TransitionBuilder WithUnusableFault(TransitionBuilder next) const {
    if (!state_.why_unusable.empty()) next.Do(effect::ReportFault{Fault::kUnusable, state_.why_unusable});
    return next;
  }

  const State& state_;
};

// These visitors have a row for each alternative.  If a row is missing, the file does not compile.

struct PhaseNames {
  std::string_view operator()(const phase::Recovering&) const { return "recovering"; }
  std::string_view operator()(const phase::Waiting&) const { return "waiting"; }
  std::string_view operator()(const phase::Checking&) const { return "checking"; }
  std::string_view operator()(const phase::Draining&) const { return "draining"; }
  std::string_view operator()(const phase::Changing&) const { return "changing"; }
  std::string_view operator()(const phase::Rebooting&) const { return "rebooting"; }
  std::string_view operator()(const phase::Confirming&) const { return "confirming"; }
  std::string_view operator()(const phase::Settled&) const { return "settled"; }
  std::string_view operator()(const phase::Degraded&) const { return "degraded"; }
};

struct EventNames {
  std::string_view operator()(const happened::Wanted&) const { return "wanted"; }
  std::string_view operator()(const happened::RejectionRead&) const { return "rejection read"; }
  std::string_view operator()(const happened::Recovered&) const { return "recovered"; }
  std::string_view operator()(const happened::Looked&) const { return "looked"; }
  std::string_view operator()(const happened::Drained&) const { return "drained"; }
  std::string_view operator()(const happened::Changed&) const { return "changed"; }
  std::string_view operator()(const happened::Well&) const { return "well"; }
  std::string_view operator()(const happened::NotYetWell&) const { return "not yet well"; }
  std::string_view operator()(const happened::Unwell&) const { return "unwell"; }
  std::string_view operator()(const happened::Failed&) const { return "failed"; }
  std::string_view operator()(const happened::NotUndone&) const { return "not undone"; }
  std::string_view operator()(const happened::Noticed&) const { return "noticed"; }
  std::string_view operator()(const happened::Asked&) const { return "asked"; }
  std::string_view operator()(const happened::RetryDue&) const { return "retry due"; }
  std::string_view operator()(const happened::Pardoned&) const { return "pardoned"; }
  std::string_view operator()(const happened::Unusable&) const { return "unusable"; }
};

}  // namespace

std::optional<Transition> Advance(const State& state, const Event& event) {
  State now = state;
  if (const auto* wanted = std::get_if<happened::Wanted>(&event)) now.wanted = wanted->goal;
  if (const auto* unusable = std::get_if<happened::Unusable>(&event)) now.why_unusable = unusable->why;
  if (const auto* read = std::get_if<happened::RejectionRead>(&event)) now.rejected = read->rejected;
  auto next = std::visit(Transitions(now), now.phase, event);
  // A new `why_unusable` or `rejected` is kept even if the event causes no transition.
  const bool is_news = now.why_unusable != state.why_unusable || now.rejected != state.rejected;
  if (!next && is_news) next = Transition{std::move(now), {}};
  return next;
}

std::string_view NameOf(const Phase& phase) { return std::visit(PhaseNames(), phase); }

std::string_view NameOf(const Event& event) { return std::visit(EventNames(), event); }

}  // namespace pintle::agent
