// SPDX-License-Identifier: Apache-2.0
#pragma once

// `pintle recover`: ends what a crash or a reboot interrupted.

#include <array>
#include <string>

#include "base/result.h"
#include "change/apply.h"
#include "ctl/answer.h"
#include "ctl/command_line.h"
#include "ctl/machine.h"
#include "ctl/progress.h"

namespace pintle::ctl {

inline constexpr std::array kRecoverOptions = {
    Option{"--give-up", "", "undo a change that waits for a reboot"},
    Option{"--reboot", "", "reboot where that ends it"},
    Option{"--files", "",
           "only put files back that a power cut left half-changed; for the unit that does so early in a boot"},
    Option{"--set-aside", "", "move away what cannot be read any more, and show what that leaves open"},
    kRootOption,
    kDataOption,
};

struct Recovered {
  change::Recovery how = change::Recovery::kNothingToDo;
  std::string reason;  // Why it was undone, if not because it was cut short.
  std::string from;    // The names of the configs of the change that was under way.
  std::string to;
};

enum class Direction { kAsItIs, kBack };

// To be called by whoever is about to change the machine, and holds the claim to it.
Result<Recovered> EndWhatWasCutShort(const Machine& machine, ProgressLines& progress,
                                     Direction direction = Direction::kAsItIs);

bool WaitsForReboot(const Recovered& recovered);
// Whether the change has not ended yet, for that or another reason.
bool IsUnderWay(const Recovered& recovered);

// For people: what was done.
std::string RecoveredText(const Recovered& recovered);

// For people: that something is under way, and what to do about it.
std::string PendingText(const change::Change& pending, const Machine& machine);

}  // namespace pintle::ctl
