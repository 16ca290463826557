// SPDX-License-Identifier: Apache-2.0
#pragma once

// A change, from its plan to its end.
//
//     stage    work out what is not as wanted, and keep every byte that putting it and undoing it takes
//     begin    the journal has the way there and the way back: a crash from here on is undone
//     apply    put, put, put
//     applied  the journal says so: a crash from here on is gone on with
//     act      reload, restart, or reboot
//     verify   everything is as wanted
//     close    the journal is empty again
//
// On an OSTree host a change that needs a reboot is not applied to what runs but left to the next boot (next_boot.h).
//
// Whatever fails before the end is undone, and the error says what it was.

#include <functional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "change/change.h"
#include "change/stage.h"
#include "host/host.h"
#include "plan/plan.h"

namespace pintle::change {

enum class Ending {
  kNothingToDo,
  kDone,
  kRebootNeeded,  // All is in place, and the change ends with Recover() after the next boot.
};

// Told what is being done, for whoever is watching.
using Progress = std::function<void(std::string_view doing)>;

// Takes the machine from one config to the other.  What it has of the old one must be as the old one says.
Result<Ending> Apply(const host::Host& host, const plan::ParsedConfig& from, const plan::ParsedConfig& to,
                     const plan::Plan& plan, const Progress& progress = {});

// Makes true again what is chosen of the config that the machine has.  `plan` says what follows.
Result<Ending> Restore(const host::Host& host, const plan::ParsedConfig& config, const plan::Plan& plan,
                       const Choice& choice, const Progress& progress = {});

enum class Recovery {
  kNothingToDo,
  kUndone,              // The machine is as it was before the change.
  kFinished,            // It is as the change wanted it.
  kRebootNeeded,        // As above.
  kRebootNeededToUndo,  // The next boot takes the old deployment again, and then this must be called once more.
};

struct Recovered {
  Recovery how = Recovery::kNothingToDo;
  std::string reason;  // Why it was undone, if it was not just cut short.
};

// Ends what a crash or a reboot interrupted.  To be called before anything else is changed.
Result<Recovered> Recover(const host::Host& host, const Progress& progress = {});

// Gives up a change that waits for a reboot, or was cut short.
Result<Recovered> GiveUp(const host::Host& host, const Progress& progress = {});

}  // namespace pintle::change
