// SPDX-License-Identifier: Apache-2.0
#pragma once

// Ends the change that a crash, a reboot or a failure has interrupted, or that waits for a confirmation.
//
// These functions run on the worker's thread, with the claim held.  They log a change that has ended, so that `pintle
// history` lists it.  A change that still waits for a reboot or a confirmation is logged when it ends.

#include <optional>
#include <string>

#include "agent/state.h"
#include "base/result.h"
#include "change/apply.h"
#include "host/this_machine.h"

namespace pintle::agent {

struct RecoveryResult {
  happened::Recovered recovered;      // Its time is not set yet.
  std::optional<Rejection> rejected;  // The rejection on the disk, which the recovery may have written.
  std::optional<Goal> current;        // The goal that the machine has now.
};

// Completes or undoes the change in the journal, as change::Recover() decides.
Result<RecoveryResult> EndInterruptedChange(const host::ThisMachine& machine, const change::Progress& progress);

// Undoes the change in the journal, because the machine is not healthy.  `why` is stored with the rejection.
Result<RecoveryResult> UndoUnhealthyChange(const host::ThisMachine& machine, const change::Progress& progress,
                                           const std::string& why);

// Confirms that the machine is healthy, which ends the change in the journal.
Result<> ConfirmChange(const host::ThisMachine& machine);

}  // namespace pintle::agent
