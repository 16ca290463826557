// SPDX-License-Identifier: Apache-2.0
#pragma once

// Describes a rollout to people: what each node has, what happens to it next, and why it has to wait.

#include <string>

#include "pool/rollout.h"

namespace pintle::ctl {

// Returns the text that `pintle rollout` prints without -o.
std::string RolloutTable(const pool::Situation& situation, const pool::Rollout& rollout);

}  // namespace pintle::ctl
