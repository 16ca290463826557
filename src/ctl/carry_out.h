// SPDX-License-Identifier: Apache-2.0
#pragma once

// Carries out a change of a machine: asks for confirmation, records the change in the system journal, and reboots if
// needed.

#include <functional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "change/apply.h"
#include "change/records.h"
#include "ctl/command_line.h"
#include "ctl/machine.h"

namespace pintle::ctl {

// Returns whether the change is confirmed, by --yes or by a person at the terminal.  Without --yes and without a
// terminal, returns an error that names --yes.
Result<bool> IsConfirmed(const CommandLine& line, std::string_view question);

// The values of "outcome" that verbs print.
namespace outcome {
using change::outcome::kDone;
using change::outcome::kNothingToDo;
using change::outcome::kRebooting;
using change::outcome::kRebootPending;
inline constexpr const char* kDeclined = "declined";
inline constexpr const char* kDrifted = "drifted";  // The machine is not as its config wants it; nothing was changed.
}  // namespace outcome

// What to do about a reboot that a change needs.  kLeaveReboot leaves it to someone else.
enum class AndThen { kReboot, kLeaveReboot };

// Calls `make_change`.  On a running machine, shutdowns are inhibited meanwhile, and the beginning and the end of the
// change are recorded in the system journal.  Reboots if the change needs a reboot, the machine is running, and `then`
// is kReboot.  Returns the outcome.
Result<std::string> CarryOut(const Machine& machine, AndThen then, const change::ChangeEvent& event,
                             const std::function<Result<change::Ending>(const change::Progress&)>& make_change);

// Calls the function above with kLeaveReboot if the command line has --no-reboot, or else with kReboot.
Result<std::string> CarryOut(const Machine& machine, const CommandLine& line, const change::ChangeEvent& event,
                             const std::function<Result<change::Ending>(const change::Progress&)>& make_change);

// Describes an outcome to people.  `result` is a clause about the machine after the change, such as "this machine is as
// rendered-local-1 wants it".  `root_option` is Machine::RootOptionText(), or "" for this machine.
std::string OutcomeText(std::string_view outcome, std::string_view result, std::string_view root_option);

}  // namespace pintle::ctl
