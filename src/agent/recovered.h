// SPDX-License-Identifier: Apache-2.0
#pragma once

// Translates the outcome of a recovery to the agent's own types, and logs it for `pintle history`.

#include <optional>

#include "agent/state.h"
#include "change/apply.h"
#include "change/journal.h"
#include "change/rejected.h"

namespace pintle::agent {

// Logs a pending change that has ended.  A change that still waits for a reboot or a confirmation is logged when it
// ends.
void RecordRecovery(const std::optional<change::Change>& pending, const change::Recovered& recovered);

// Returns the event for Advance() that stands for the outcome of a recovery.  `pending` is the change that was
// recovered.
happened::Recovered MeaningOf(const change::Recovered& recovered, const std::optional<change::Change>& pending);

std::optional<Rejection> RejectionFrom(const std::optional<change::Rejected>& rejected);

}  // namespace pintle::agent
