// SPDX-License-Identifier: Apache-2.0
#pragma once

// Works out a change: the things that are not as wanted, and the steps that undo it.

#include <functional>

#include "base/result.h"
#include "change/change.h"
#include "change/losses.h"
#include "host/files/blob_store.h"
#include "host/host.h"
#include "plan/plan.h"
#include "plan/step.h"

namespace pintle::change {

// Selects how to treat edits of the old config's files that the change would overwrite.
enum class Edits {
  kRefused,      // They are an error that lists all findings.
  kOverwritten,  // They are overwritten, because the person who asks for the change knows of them.
};

// Works out the change.  Stores the contents that the change and its undo need, and makes them durable; changes nothing
// else.
Result<Change> Stage(const host::Host& host, host::BlobStore& contents, const plan::ParsedConfig& from,
                     const plan::ParsedConfig& to, const plan::Plan& plan, const Things& left_alone = {},
                     Edits edits = Edits::kRefused);

// Selects steps.
using Choice = std::function<bool(const plan::Step& step)>;

// Works out a change that puts back chosen parts of the config that the machine already has.
Result<Change> StageRestore(const host::Host& host, host::BlobStore& contents, const plan::ParsedConfig& config,
                            const plan::Plan& plan, const Choice& choice);

}  // namespace pintle::change
