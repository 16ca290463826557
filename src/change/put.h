// SPDX-License-Identifier: Apache-2.0
#pragma once

// Puts the steps of a change, or takes them back.

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

// The state of things as someone has seen them, as the steps that would put it, and when that was.
struct SeenBefore {
  std::span<const plan::Step> states;
  std::optional<WallTime> at;
};

// Puts all steps and makes them durable: first all entries of the file tree together, then the rest in order.  What is
// as wanted already is not touched, so this may be repeated after it was cut short.  A thing that is neither as wanted
// nor as it was seen is a conflict.  If this fails, some steps may have been put.
Result<> PutAll(const host::Host& host, const host::BlobStore& contents, std::span<const plan::Step> steps,
                const SeenBefore& before = {});

// Takes back a change that may have put any of its steps.  Things that someone has since edited, made immutable or
// mounted over are left as they are; the returned texts name them.  If a thing cannot be put back for another reason,
// all others are put back, and then that error is returned.
Result<std::vector<std::string>> PutBack(const host::Host& host, const host::BlobStore& contents,
                                         std::span<const plan::Step> undo, std::span<const plan::Step> steps);

}  // namespace pintle::change
