// SPDX-License-Identifier: Apache-2.0
#pragma once

// A change, from its plan to its end.
//
//     stage    work out what is not as wanted, and keep every byte that putting it and undoing it takes; what fails up
//              to here leaves nothing behind
//     begin    the journal has the way there and the way back: a crash from here on is undone
//     apply    put, put, put
//     applied  the journal says so: a crash from here on is gone on with
//     act      reload, restart, or reboot
//     verify   everything is as wanted
//     close    the journal is empty again
//
// On an OSTree host a change that needs a reboot is not applied to what runs but left to the next boot (next_boot.h).
//
// Whatever fails before the end is undone, and the error says what it was.  Where the way back fails as well, the
// journal stays, and Recover() is to be called again.

#include <cstdint>
#include <functional>
#include <string>

#include "base/result.h"
#include "change/change.h"
#include "change/losses.h"
#include "change/next_boot.h"
#include "change/stage.h"
#include "host/blob_store.h"
#include "host/host.h"
#include "host/how_far.h"
#include "plan/plan.h"

namespace pintle::change {

enum class Ending {
  kNothingToDo,
  kDone,
  kRebootNeeded,  // All is in place, and the change ends with Recover() after the next boot.
};

// Told what is being done, and how far that is where it takes long, for whoever is watching.
using Progress = host::TellHowFar;

// A change that needs a reboot ends when everything is as wanted after it, or when Confirm() is called as well.
enum class EndsWith { kTheBoot, kConfirmation };

// Takes the machine from one config to the other.  All that the old one manages must be unchanged, except for what is
// left alone, which stays as it is.  What someone edits while the change is made stays, too: the change is
// undone then.
Result<Ending> Apply(const host::Host& host, const plan::ParsedConfig& from, const plan::ParsedConfig& to,
                     const plan::Plan& plan, const Progress& progress = {}, EndsWith end = EndsWith::kTheBoot,
                     const Things& left_alone = {}, Edits edits = Edits::kRefused);

// A change that someone else has worked out.
struct Making {
  std::function<Result<Change>(host::BlobStore& contents)> stage;  // Collects the contents, and says what to put.
  std::function<Result<NextDeployment>()> next;                    // For what is left to the next boot.
};
Result<Ending> Make(const host::Host& host, const Making& making, const Progress& progress = {},
                    EndsWith end = EndsWith::kTheBoot);

// Makes true again what is chosen of the config that the machine has.  `plan` says what follows.
Result<Ending> Restore(const host::Host& host, const plan::ParsedConfig& config, const plan::Plan& plan,
                       const Choice& choice, const Progress& progress = {});

// What the journal has while nobody holds the claim to the machine.
enum class Pending {
  kNone,
  kCutShort,        // To be ended by Recover(), whoever began it.
  kWaitsForReboot,  // All is in place, or comes with the next boot.
};
Result<Pending> PendingOn(const host::Host& host);

enum class Recovery {
  kNothingToDo,
  kUndone,              // The machine is as it was before the change.
  kFinished,            // It is as the change wanted it.
  kToBeConfirmed,       // It is as the change wanted it, which ends with Confirm() or GiveUp().
  kRebootNeeded,        // As above.
  kRebootNeededToUndo,  // The old things are back, or come with the next boot, after which this must be called again.
};

struct Recovered {
  Recovery how = Recovery::kNothingToDo;
  std::string reason;  // Why it was undone, if it was not just cut short.
};

// A change that nobody has confirmed when the machine has booted as often as this is undone: it may be what brings the
// machine down.
inline constexpr std::int64_t kMostBoots = 3;

// Ends what a crash or a reboot interrupted.  To be called before anything else is changed.
Result<Recovered> Recover(const host::Host& host, const Progress& progress = {});

// The machine is well: ends a change that waits for that.
Result<> Confirm(const host::Host& host);

// Gives up a change that waits for a reboot or for a confirmation, or was cut short.
Result<Recovered> GiveUp(const host::Host& host, const Progress& progress = {}, const std::string& why = {});

}  // namespace pintle::change
