// SPDX-License-Identifier: Apache-2.0
#pragma once

// Makes a change: carries out a plan, from staging to closing the journal.
//
//     stage    work out what is not as wanted, and store every byte that the steps and their undo need; a failure up to
//              here leaves nothing behind
//     begin    write the steps and their undo to the journal: a crash from here on is undone
//     apply    put all steps
//     applied  record in the journal that all steps are put: after a crash from here on, recovery goes on
//     act      reload, restart, or reboot
//     verify   check that everything is as wanted
//     close    empty the journal
//
// On an OSTree host a change that needs a reboot is not applied to the running system but left to the next boot
// (next_boot.h).
//
// A failure before the end undoes the change, and the error names the cause.  If undoing fails as well, the journal
// stays, and Recover() has to be called.

#include <cstdint>
#include <functional>
#include <stop_token>
#include <string>

#include "base/result.h"
#include "change/change.h"
#include "change/losses.h"
#include "change/next_boot.h"
#include "change/stage.h"
#include "host/files/blob_store.h"
#include "host/host.h"
#include "host/ostree/activity_progress.h"
#include "plan/plan.h"

namespace pintle::change {

enum class Ending {
  kNothingToDo,
  kDone,
  kRebootNeeded,  // Everything is in place, and Recover() ends the change after the next boot.
};

// Called with the current activity and, if it takes long, the part of it that is done.
using Progress = host::ProgressCallback;

// Selects when a change that needs a reboot ends.  With kTheBoot, the change ends after the reboot, if everything is as
// wanted.  With kConfirmation, the change also waits until Confirm() is called.
enum class EndsWith { kTheBoot, kConfirmation };

// Takes the machine from one config to the other.  Things in `left_alone` stay as they are.  With Edits::kRefused, the
// call fails if the change would overwrite someone's edit of a file of the old config.  A file that someone edits while
// the change is made keeps the edit, and the change is undone.  A request to stop ends the call while it fetches,
// before the change begins, with kCancelled; later it has no effect.
Result<Ending> Apply(const host::Host& host, const plan::ParsedConfig& from, const plan::ParsedConfig& to,
                     const plan::Plan& plan, const Progress& progress = {}, EndsWith end = EndsWith::kTheBoot,
                     const Things& left_alone = {}, Edits edits = Edits::kRefused, const std::stop_token& stop = {});

// A change whose steps the caller works out; Make() carries it out.
struct CustomChange {
  std::function<Result<Change>(host::BlobStore& contents)> stage;  // Collects the contents, and returns the change.
  std::function<Result<NextDeployment>()> next;  // Returns the deployment of a change that is left to the next boot.
};
Result<Ending> Make(const host::Host& host, const CustomChange& custom, const Progress& progress = {},
                    EndsWith end = EndsWith::kTheBoot);

// Returns whether a change fetches an image of the OS.
bool WantsImage(const plan::Plan& plan);

// Stores the image that a later change needs, so that the change need not fetch it.  Makes no deployment of the image,
// so no boot takes the image before the change is made.  Packages of extensions are only fetched on trial: they are not
// stored, so the change fetches them again.
Result<> FetchAhead(const host::Host& host, const plan::ParsedConfig& from, const plan::ParsedConfig& to,
                    const plan::Plan& plan, const std::stop_token& stop);

// Does all that Apply() does before it begins the change, except for fetching: it stores the contents of the files and
// of the undo, and checks the space on the disk.  Then it removes what it has stored.
Result<> Rehearse(const host::Host& host, const plan::ParsedConfig& from, const plan::ParsedConfig& to,
                  const plan::Plan& plan, const Things& left_alone, Edits edits);

// Puts back the chosen parts of the config that the machine has.  `plan` has the actions that follow.
Result<Ending> Restore(const host::Host& host, const plan::ParsedConfig& config, const plan::Plan& plan,
                       const Choice& choice, const Progress& progress = {});

// The state of the change in the journal.  It is meaningful only while no other process holds the claim to the machine.
enum class Pending {
  kNone,
  kCutShort,        // Recover() has to end the change, whichever program began it.
  kWaitsForReboot,  // Everything is in place, or takes effect with the next boot.
};
Result<Pending> PendingOn(const host::Host& host);

enum class Recovery {
  kNothingToDo,
  kUndone,         // The machine is as it was before the change.
  kFinished,       // The machine is as the change wants it.
  kToBeConfirmed,  // The machine is as the change wants it, and Confirm() or GiveUp() ends the change.
  kRebootNeeded,   // The machine has to reboot for the change to end.
  // The old state is back, or comes with the next boot.  Recover() has to be called again after that boot.
  kRebootNeededToUndo,
};

struct Recovered {
  Recovery how = Recovery::kNothingToDo;
  // Names why the change was undone (unless it was only cut short), and what was left alone because someone else has
  // changed it.
  std::string reason;
};

// A change that is still not confirmed after this many boots is undone, because it may be the cause of the reboots.
inline constexpr std::int64_t kMostBoots = 3;

// Ends the change that a crash or a reboot has interrupted.  Must be called before anything else is changed.
Result<Recovered> Recover(const host::Host& host, const Progress& progress = {});

// Confirms that the machine is healthy, which ends a change that waits for confirmation.
Result<> Confirm(const host::Host& host);

// Undoes a change that waits for a reboot or for a confirmation, or was cut short.  `why` is recorded as the reason.
Result<Recovered> GiveUp(const host::Host& host, const Progress& progress = {}, const std::string& why = {});

}  // namespace pintle::change
