// SPDX-License-Identifier: Apache-2.0
#pragma once

// A change of a machine that someone has decided on: asked about, recorded in the system's journal, and followed by a
// reboot where it takes one.

#include <functional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "change/apply.h"
#include "change/records.h"
#include "ctl/command_line.h"
#include "ctl/machine.h"
#include "ctl/progress.h"

namespace pintle::ctl {

// Whether to go on: --yes says so, or a person at the terminal.  Without either, an error says what to add.
Result<bool> IsWanted(const CommandLine& line, std::string_view question);

// What a verb prints as "outcome".
namespace outcome {
using change::outcome::kDone;
using change::outcome::kNothingToDo;
using change::outcome::kRebooting;
using change::outcome::kRebootPending;
inline constexpr const char* kDeclined = "declined";
}  // namespace outcome

// What is done about a reboot that a change needs.
enum class AndThen { kReboot, kLeaveReboot };

// Gives the outcome.
Result<std::string> CarryOut(const Machine& machine, AndThen then, const change::ChangeEvent& event,
                             const std::function<Result<change::Ending>(const change::Progress&)>& change);

// The same, as --no-reboot says.
Result<std::string> CarryOut(const Machine& machine, const CommandLine& line, const change::ChangeEvent& event,
                             const std::function<Result<change::Ending>(const change::Progress&)>& change);

// For people; `now` is what is true then: "this machine is as rendered-local-1 says".
std::string OutcomeText(std::string_view outcome, std::string_view now);

}  // namespace pintle::ctl
