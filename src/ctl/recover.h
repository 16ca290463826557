// SPDX-License-Identifier: Apache-2.0
#pragma once

// `pintle recover`: ends the change that a crash or a reboot has interrupted.

#include <array>
#include <string>

#include "base/result.h"
#include "change/apply.h"
#include "ctl/answer.h"
#include "ctl/command_line.h"
#include "ctl/machine.h"

namespace pintle::ctl {

inline constexpr std::array kRecoverOptions = {
    Option{"--give-up", "", "undo a change that waits for a reboot"},
    Option{"--reboot", "", "reboot if the change needs a reboot to end"},
    Option{"--files", "", "only put back files that a power cut left half-changed; a unit runs this early in a boot"},
    Option{"--set-aside", "",
           "move away records that cannot be read any more, and list what then differs from the config"},
    kRootOption,
    kOutputOption,
};

struct RecoveryOutcome {
  change::Recovery how = change::Recovery::kNothingToDo;
  std::string reason;  // Why the change is undone; empty if it is not undone, or only because it was cut short.
  std::string from;    // The name of the old config of the change that was under way.
  std::string to;      // The name of its new config.
};

// kRecover completes or undoes the change, as its journal decides; kUndo undoes it in any case.
enum class Direction { kRecover, kUndo };

// Ends a change that was cut short, or undoes it, and prints the progress.  The caller must hold the claim on the
// machine, and must not have changed anything yet.  A machine that is not running needs no reboot to undo a change.
Result<RecoveryOutcome> EndInterruptedChange(const Machine& machine, Direction direction = Direction::kRecover);

// Returns whether the change ends with a reboot that has not happened yet.
bool WaitsForReboot(const RecoveryOutcome& recovered);
// Returns whether the change has not ended yet: it waits for a reboot, or for pintled to confirm it.
bool IsUnderWay(const RecoveryOutcome& recovered);

// Returns a text for people about what was done.
std::string RecoveredText(const RecoveryOutcome& recovered);

// Returns a text for people that names the change under way, and the command that ends or undoes it.
std::string PendingText(const change::Change& pending, const Machine& machine);

}  // namespace pintle::ctl
