// SPDX-License-Identifier: Apache-2.0
#pragma once

// How what a crash or a reboot had interrupted has ended, in the agent's words and for `pintle history`.

#include <optional>

#include "agent/state.h"
#include "change/apply.h"
#include "change/journal.h"
#include "change/rejected.h"

namespace pintle::agent {

// A change that is over now, and was not so when it began; one that still waits for something is told of when it ends.
void RecordRecovery(const std::optional<change::Change>& pending, const change::Recovered& recovered);

happened::Recovered MeaningOf(const change::Recovered& recovered, const std::optional<change::Change>& pending);

std::optional<Rejection> RejectionFrom(const std::optional<change::Rejected>& rejected);

}  // namespace pintle::agent
