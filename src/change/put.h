// SPDX-License-Identifier: Apache-2.0
#pragma once

// Puts the steps of a change, or undoes them.

#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "host/files/blob_store.h"
#include "host/files/fingerprint.h"
#include "host/host.h"
#include "plan/step.h"

namespace pintle::change {

// The states that things are expected to have, in the form of steps.
struct ExpectedStates {
  std::span<const plan::Step> states;
  // The fingerprints of files that were observed in these states; null if there are none.
  const host::Fingerprints* fingerprints = nullptr;
};

// Puts all steps, except deployments, and makes them durable: first all entries of the file tree together, then units,
// keys and passwords.  Things that are already as wanted are not touched, so the call may be repeated after a crash.
// An entry, keys or a password whose earlier state is in `before` is a conflict if it is neither as wanted nor in that
// state.  All other things are put without this check.  After an error, some steps may have been put.
Result<> PutAll(const host::Host& host, const host::BlobStore& contents, std::span<const plan::Step> steps,
                const ExpectedStates& before = {});

// The steps of a change, and the steps that undo them.
struct ChangeSteps {
  std::span<const plan::Step> undo;
  std::span<const plan::Step> done;
};

// Undoes a change of which none, some or all steps were put.  Things that someone has since edited, made immutable or
// mounted over are left as they are, and the returned texts name them; but Pintle's own records are put back even if
// someone has edited them.  If a thing cannot be put back for another reason, all others are put back, and then the
// error is returned.  Only a fault of the machine, such as a disk error, ends the call at once.
Result<std::vector<std::string>> UndoSteps(const host::Host& host, const host::BlobStore& contents,
                                           const ChangeSteps& change);

}  // namespace pintle::change
