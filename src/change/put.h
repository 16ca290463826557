// SPDX-License-Identifier: Apache-2.0
#pragma once

// Steps made true.

#include <span>

#include "base/result.h"
#include "host/blob_store.h"
#include "host/host.h"
#include "plan/step.h"

namespace pintle::change {

// Puts all steps and makes them durable: the entries of the file tree first and together, the rest in order.  What is
// as wanted already is not touched, so that this may be repeated after it was cut short.  When it fails, some steps may
// have been put.  `was` is what there was a moment ago, of those things that someone has looked at then.
Result<> PutAll(const host::Host& host, const host::BlobStore& contents, std::span<const plan::Step> steps,
                std::span<const plan::Step> was = {});

}  // namespace pintle::change
