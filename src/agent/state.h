// SPDX-License-Identifier: Apache-2.0
#pragma once

// What the agent is at, and what it does next: a pure function of where it is and what has happened.
//
//     recover  -> look -> [drain -> look again] -> change -> [reboot -> recover -> confirm] -> settled
//
// A look compares the machine with the config that it has, and that with the one it is to have.  It is what everything
// begins with, so that a change never starts from a machine that is not what it is taken for.  ARCHITECTURE.md has the
// graph; a pair that is not in it changes nothing.

#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace pintle::agent {

// What a machine has, or is to have.
struct Goal {
  std::string config;
  std::string image = {};  // One that was built for the config; empty: the config says which.

  bool operator==(const Goal&) const = default;
};

// Why a machine is not what it should be.
enum class Fault {
  kDrift,           // Someone has changed what the config says: a person chooses what is to be.
  kUnreconcilable,  // No machine gets from the one config to the other.
  kRejected,        // It was tried, and the machine was not well with it.
  kFailed,          // Something went wrong; it may go better next time.
  kUnusable,        // What it is to be cannot be made out.
};

// What a look has shown.
struct Outlook {
  bool is_cut_short = false;        // The journal has a change that has to be ended before anything else.
  std::string waits = {};           // The journal has one that a reboot ends, and this is what to say of it.
  std::string drift = {};           // Empty: the machine is as the config says that it has.
  std::string unreconcilable = {};  // Why it cannot get to the goal.
  bool is_there = false;            // It has the goal.
  bool drains = false;              // Its pods have to go before.

  // Whether there is a change in the journal, so that nothing else was looked at.
  bool IsUnderWay() const { return is_cut_short || !waits.empty(); }
};

// A change that failed and could not be undone at once.
struct FailedChange {
  Goal goal;
  std::string text;
  int attempts = 0;
};

namespace phase {
struct Recovering {  // Ends what a crash, a reboot or a failure has interrupted.
  int attempts = 0;
  std::optional<FailedChange> after = {};
};
struct Waiting {};  // Nobody has said yet what the machine is to be.
struct Checking {
  Goal goal;
  bool is_drained = false;
  int attempts = 0;
  bool again = false;        // Something changed during this look, which may have missed it: look once more.
  bool is_repeated = false;  // This is that second look.
};
struct Draining {
  Goal goal;
  int attempts = 0;
};
struct Changing {
  Goal goal;
  int attempts = 0;
};
struct Rebooting {
  int attempts = 0;
};
struct Confirming {};  // It has rebooted, and is watched until it is well.
struct Settled {
  Goal goal;
};
struct Degraded {
  Fault fault = Fault::kFailed;
  std::string text;
  enum class Retry { kNone, kRecover, kLook, kReboot } retry = Retry::kNone;
  std::optional<Goal> goal = {};
  int attempts = 0;
  std::optional<FailedChange> after = {};  // The failed change that the recovery to be tried again belongs to.
};
}  // namespace phase

using Phase = std::variant<phase::Recovering, phase::Waiting, phase::Checking, phase::Draining, phase::Changing,
                           phase::Rebooting, phase::Confirming, phase::Settled, phase::Degraded>;

struct Rejection {
  Goal goal;
  std::string why;
};

struct State {
  Phase phase = phase::Recovering{};
  std::optional<Goal> wanted = {};         // What was said last.
  std::optional<Rejection> rejected = {};  // What is not tried again.
  std::string unusable = {};               // Why what was said last cannot be used, if it cannot.
};

namespace happened {
struct Wanted {
  Goal goal;
};
// What was interrupted has ended.
struct Recovered {
  enum class How { kEnded, kUndone, kToBeConfirmed, kRebootNeeded } how = How::kEnded;
  std::optional<Goal> goal = {};  // Of the change.
  std::string why = {};           // Why it is undone, if it did not just end early.
};
struct Looked {
  Goal goal;
  Outlook outlook;
};
struct Drained {};
struct Changed {
  bool needs_reboot = false;
};
struct Well {};
struct Unwell {
  std::string why;
};
// Whatever was under way has not worked.
struct Failed {
  std::string text;
};
// A change has failed, and its journal is still there.
struct NotUndone {
  std::string text;
};
// Something on the machine may be other than it was.  A look that is under way goes on, and what it shows counts.
struct Noticed {};
// A person wants a look now, or its time has come; a recovery that has failed is tried again as well.
struct Asked {};
// Enough time has passed since something failed, or a person does not want to wait.
struct RetryDue {};
// A person wants what was rejected to be tried all the same.
struct Pardoned {};
// What the config source says now cannot be used; the last usable goal stays.  An empty `why`: it can be used again.
struct Unusable {
  std::string why;
};
}  // namespace happened

using Event =
    std::variant<happened::Wanted, happened::Recovered, happened::Looked, happened::Drained, happened::Changed,
                 happened::Well, happened::Unwell, happened::Failed, happened::NotUndone, happened::Noticed,
                 happened::Asked, happened::RetryDue, happened::Pardoned, happened::Unusable>;

namespace effect {
struct Recover {};
struct Look {
  Goal goal;
};
// Has Noticed happen again, as soon as another look may begin: how often that is, the agent decides.
struct NoticeAgain {};
// Says that there is work, before anything of it is done.
struct ReportWork {
  Goal goal;
};
struct AskForDrain {
  Goal goal;
};
struct Change {
  Goal goal;
};
struct Reboot {};
struct WatchHealth {};
struct Confirm {};
struct GoBack {
  std::string why;
};
struct ReportSettled {
  Goal goal;
};
struct ReportFault {
  Fault fault;
  std::string text;
};
// Stores it on the disk, so that it holds after a reboot.
struct Remember {
  std::optional<Rejection> rejected;
};
struct RetryLater {
  int attempts;  // How often it has failed so far.
};
}  // namespace effect

using Effect = std::variant<effect::Recover, effect::Look, effect::NoticeAgain, effect::ReportWork, effect::AskForDrain,
                            effect::Change, effect::Reboot, effect::WatchHealth, effect::Confirm, effect::GoBack,
                            effect::ReportSettled, effect::ReportFault, effect::Remember, effect::RetryLater>;

struct Transition {
  State next;
  std::vector<Effect> effects;
};

// Nothing: what has happened means nothing here.
std::optional<Transition> Advance(const State& state, const Event& event);

// "checking", as `pintle status` and the table in ARCHITECTURE.md call it.
std::string_view NameOf(const Phase& phase);
std::string_view NameOf(const Event& event);

}  // namespace pintle::agent
