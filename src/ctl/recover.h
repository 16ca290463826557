// SPDX-License-Identifier: Apache-2.0
#pragma once

// `pintle recover`: ends what a crash or a reboot interrupted.

#include <array>
#include <string>

#include "base/result.h"
#include "change/apply.h"
#include "ctl/command_line.h"
#include "ctl/machine.h"
#include "ctl/progress.h"

namespace pintle::ctl {

inline constexpr std::array kRecoverOptions = {kRootOption, kJsonOption};

struct Recovered {
  change::Recovery how = change::Recovery::kNothingToDo;
  std::string from;  // The names of the configs of the change that was under way.
  std::string to;
};

// To be called by whoever is about to change the machine, and holds the claim to it.
Result<Recovered> EndWhatWasCutShort(const Machine& machine, ProgressLines& progress);

// For people: what was done.
std::string RecoveredText(const Recovered& recovered);

// For people: that something is under way, and what to do about it.
std::string PendingText(const change::Change& pending, const Machine& machine);

}  // namespace pintle::ctl
