// SPDX-License-Identifier: Apache-2.0
#pragma once

// Steps made true.

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "host/blob_store.h"
#include "host/host.h"
#include "plan/step.h"

namespace pintle::change {

// What someone has seen, as the steps that would put it, and when.
struct SeenBefore {
  std::span<const plan::Step> states;
  std::optional<WallTime> at;
};

// Puts all steps and makes them durable: the entries of the file tree first and together, the rest in order.  What is
// as wanted already is not touched, so that this may be repeated after it was cut short.  What is neither as wanted nor
// as it was seen is a conflict.  When this fails, some steps may have been put.
Result<> PutAll(const host::Host& host, const host::BlobStore& contents, std::span<const plan::Step> steps,
                const SeenBefore& before = {});

// Takes a change back that may have put any of its steps.  What someone has edited since, made immutable or mounted
// something over is left as it is, and told.  When one thing cannot be put back for another reason, all others are,
// before that is an error.
Result<std::vector<std::string>> PutBack(const host::Host& host, const host::BlobStore& contents,
                                         std::span<const plan::Step> undo, std::span<const plan::Step> steps);

}  // namespace pintle::change
