// SPDX-License-Identifier: Apache-2.0
#pragma once

// Puts the steps of a change, or undoes them.

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "host/files/blob_store.h"
#include "host/host.h"
#include "plan/step.h"

namespace pintle::change {

// The states in which things were observed, in the form of steps, and the time of the observation.
struct SeenBefore {
  std::span<const plan::Step> states;
  std::optional<WallTime> at;
};

// Puts all steps, except deployments, and makes them durable: first all entries of the file tree together, then units,
// keys and passwords.  Things that are already as wanted are not touched, so the call may be repeated after a crash.  A
// thing that is neither as wanted nor as in `before` is a conflict.  After an error, some steps may have been put.
Result<> PutAll(const host::Host& host, const host::BlobStore& contents, std::span<const plan::Step> steps,
                const SeenBefore& before = {});

// Undoes a change that may have put any of its steps.  Things that someone has since edited, made immutable or mounted
// over are left as they are, and the returned texts name them.  If a thing cannot be put back for another reason, all
// others are put back, and then the error is returned.  Only a fault of the machine, such as a disk error, ends the
// call at once.
Result<std::vector<std::string>> PutBack(const host::Host& host, const host::BlobStore& contents,
                                         std::span<const plan::Step> undo, std::span<const plan::Step> steps);

}  // namespace pintle::change
