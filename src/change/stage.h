// SPDX-License-Identifier: Apache-2.0
#pragma once

// A change worked out: what is not as wanted, and the way back from there.

#include <functional>

#include "base/result.h"
#include "change/change.h"
#include "change/losses.h"
#include "host/blob_store.h"
#include "host/host.h"
#include "plan/plan.h"
#include "plan/step.h"

namespace pintle::change {

// What someone has made of a file of the old config, which the change would overwrite.
enum class Edits {
  kRefused,      // An error that tells all findings.
  kOverwritten,  // Who asks for the change knows of them.
};

// Collects the contents that the change and its undo need, and makes them durable.  Changes nothing else.
Result<Change> Stage(const host::Host& host, host::BlobStore& contents, const plan::ParsedConfig& from,
                     const plan::ParsedConfig& to, const plan::Plan& plan, const Things& left_alone = {},
                     Edits edits = Edits::kRefused);

// Whether a step is meant.
using Choice = std::function<bool(const plan::Step& step)>;

// The same for what a machine has already, or should have: only what is chosen is made true again.
Result<Change> StageAgain(const host::Host& host, host::BlobStore& contents, const plan::ParsedConfig& config,
                          const plan::Plan& plan, const Choice& choice);

}  // namespace pintle::change
