// SPDX-License-Identifier: Apache-2.0
#pragma once

// The agent's state machine: Advance() is a pure function of the state and of an event.
//
//     recover  -> look -> [drain -> look again] -> change -> [reboot -> recover -> confirm] -> settled
//
// A look compares the machine with its config, and that config with the goal.  Every change follows a look, which finds
// the edits by others that the change would overwrite.  ARCHITECTURE.md has the graph of phases and events.  A pair of
// a phase and an event that is not in the graph changes nothing.

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/clock.h"

namespace pintle::agent {

// The config that a machine has, or is to have.
struct Goal {
  std::string config;
  std::string image = {};  // The image that was built for the config; if it is empty, the config names the image.

  bool operator==(const Goal&) const = default;
};

// The reasons why a machine is not as it should be.
enum class Fault {
  kDrift,           // Someone edited a managed thing; a person has to decide whether the edit or the config is right.
  kUnreconcilable,  // A running machine cannot get from the one config to the other.
  kRejected,        // The config was tried, and the machine was not healthy with it.
  kFailed,          // An operation has failed that may succeed next time.
  kUnusable,        // The goal cannot be determined.
};

// The part of a look's result on which Advance() decides.
struct Outlook {
  bool is_cut_short = false;            // The journal has a change that has to be ended before anything else.
  std::string waits = {};               // The text to report if the journal has a change that waits for a reboot.
  std::string drift = {};               // The findings that stop the agent, as text; empty if there are none.
  std::string why_unreconcilable = {};  // The reason why the machine cannot get to the goal.
  bool has_goal = false;                // The machine has the goal.
  bool is_outdated = false;             // Someone else has given the machine another config since the look began.
  bool drains = false;                  // The machine has to be drained first.

  // Returns whether the journal has a change, in which case nothing else was looked at.
  bool IsUnderWay() const { return is_cut_short || !waits.empty(); }
};

// A change that failed and could not be undone at once.
struct FailedChange {
  Goal goal;
  std::string text;
  int attempts = 0;
};

// The change that a reboot completes or undoes.
struct RebootPurpose {
  Goal goal = {};
  bool undoes = false;
};

namespace phase {
struct Recovering {  // Ends the change that a crash, a reboot or a failure has interrupted.
  int attempts = 0;
  std::optional<FailedChange> after = {};  // Set if this is another try at undoing a failed change.
  bool is_going_back = false;              // The machine was not healthy, and goes back to the previous config.
};
struct Waiting {};  // The source has named no goal yet.
struct Checking {
  Goal goal;
  bool is_drained = false;
  int attempts = 0;
  bool needs_another_look = false;    // Something changed during this look, so another look follows.
  bool follows_another_look = false;  // The look before this one needed another look.
};
struct Draining {
  Goal goal;
  int attempts = 0;
};
struct Changing {
  Goal goal;
  int attempts = 0;
  bool is_fetch_stopped = false;  // Another goal was wanted during the change, and its fetch was asked to stop.
};
struct Rebooting {
  int attempts = 0;
  RebootPurpose purpose = {};
};
struct Confirming {  // The machine has rebooted, and is watched until it is healthy.
  MonotonicTime since = {};
  int rounds = 0;  // The number of rounds in which it was not healthy.
};
struct Settled {
  Goal goal;
};
struct Degraded {
  Fault fault = Fault::kFailed;
  std::string text;
  // The work that is tried again when RetryDue happens.
  enum class Retry { kNone, kRecover, kLook, kReboot } retry = Retry::kNone;
  std::optional<Goal> goal = {};
  int attempts = 0;
  std::optional<FailedChange> after = {};  // Set if the recovery is another try at undoing a failed change.
  RebootPurpose reboot = {};               // Set if `retry` is kReboot.
};
}  // namespace phase

using Phase = std::variant<phase::Recovering, phase::Waiting, phase::Checking, phase::Draining, phase::Changing,
                           phase::Rebooting, phase::Confirming, phase::Settled, phase::Degraded>;

struct Rejection {
  Goal goal;
  std::string why;

  bool operator==(const Rejection&) const = default;
};

struct State {
  Phase phase = phase::Recovering{};
  std::optional<Goal> wanted = {};         // The goal that was named last.
  std::optional<Rejection> rejected = {};  // The goal that is not tried again.
  std::string why_unusable = {};           // Why the source's present goal cannot be used; empty if it can.
};

namespace happened {
// The source has named this goal.
struct Wanted {
  Goal goal;
};
// The rejection on the disk was read.  This happens before Recovered: a recovery that rejects its goal stores the
// rejection on the disk, and so does another program that has undone a change of the agent.
struct RejectionRead {
  std::optional<Rejection> rejected;
};
// A recovery has ended.
struct Recovered {
  enum class How { kEnded, kUndone, kToBeConfirmed, kRebootNeeded } how = How::kEnded;
  std::optional<Goal> goal = {};  // The goal of the change that was recovered.
  MonotonicTime at = {};
  bool undoes = false;  // The reboot that is needed undoes the change.
};
// A look at the machine and this goal has ended.
struct Looked {
  Goal goal;
  Outlook outlook;
};
struct Drained {};
// A change has succeeded, except for the reboot that it may need.
struct Changed {
  bool needs_reboot = false;
};
// A round of the health checks has found no problem.
struct Well {};
// A round has found problems that may pass.
struct NotYetWell {
  std::chrono::milliseconds ask_after;  // The pause before the next round.
};
// The problems have lasted for too long.
struct Unwell {
  std::string why;
};
// The current work has failed.
struct Failed {
  std::string text;
};
// A change has failed, and its journal is still there.
struct NotUndone {
  std::string text;
};
// Something on the machine may have changed.  A look that is under way goes on, and its result counts, except that a
// look with which a change would begin is repeated once.
struct Noticed {};
// A person wants a look now, or a full check is due.  A recovery that has failed is tried again as well.
struct Asked {};
// Enough time has passed since a failure.
struct RetryDue {};
// A person wants another try now: of a goal that was rejected, or after a failure.
struct Pardoned {};
// The goal that the source names now cannot be used, so the last usable goal stays in force.  An empty `why` means that
// the goal can be used again.
struct Unusable {
  std::string why;
  // If the phase is Checking: its look has not begun yet, because the source holds back the change that would follow.
  bool is_look_held = false;
};
}  // namespace happened

using Event = std::variant<happened::Wanted, happened::RejectionRead, happened::Recovered, happened::Looked,
                           happened::Drained, happened::Changed, happened::Well, happened::NotYetWell, happened::Unwell,
                           happened::Failed, happened::NotUndone, happened::Noticed, happened::Asked,
                           happened::RetryDue, happened::Pardoned, happened::Unusable>;

namespace effect {
struct Recover {};
struct Look {
  Goal goal;
};
// Makes Noticed happen as soon as another look may begin; the agent limits how often looks begin.
struct LookAgainSoon {};
// Reports that there is work, before any of it is done.
struct ReportWork {
  Goal goal;
};
struct AskForDrain {
  Goal goal;
};
struct Change {
  Goal goal;
};
// Ends the fetch with which the change begins.  If the change has fetched everything, it goes on.
struct StopFetching {};
struct Reboot {
  RebootPurpose purpose;
};
// Begins a round of the health checks after this pause.
struct WatchHealth {
  std::chrono::milliseconds after{0};
};
struct Confirm {};
struct GoBack {
  std::string why;
};
// Reports that nothing is wrong while no goal is known, or while a look is held.
struct ReportWaiting {};
struct ReportSettled {
  Goal goal;
};
struct ReportFault {
  Fault fault;
  std::string text;
};
// Removes the rejection from the disk.
struct ForgetRejection {};
struct RetryLater {
  int attempts;  // The number of failures so far.
};
}  // namespace effect

using Effect = std::variant<effect::Recover, effect::Look, effect::LookAgainSoon, effect::ReportWork,
                            effect::AskForDrain, effect::Change, effect::StopFetching, effect::Reboot,
                            effect::WatchHealth, effect::Confirm, effect::GoBack, effect::ReportWaiting,
                            effect::ReportSettled, effect::ReportFault, effect::ForgetRejection, effect::RetryLater>;

struct Transition {
  State next;
  std::vector<Effect> effects;
};

// Returns the transition that the event causes, or nullopt if the event means nothing in this state.
std::optional<Transition> Advance(const State& state, const Event& event);

// Returns the name, such as "checking", that `pintle status` and the table in ARCHITECTURE.md use.
std::string_view NameOf(const Phase& phase);
std::string_view NameOf(const Event& event);

}  // namespace pintle::agent
