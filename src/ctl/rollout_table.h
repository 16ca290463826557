// SPDX-License-Identifier: Apache-2.0
#pragma once

// Describes a rollout to people: what each node has, what happens to it next, and why it has to wait.

#include <string>
#include <string_view>
#include <vector>

#include "pool/rollout.h"

namespace pintle::ctl {

// The table has these notes if a RolloutPolicy applies to the pool.
struct PolicyNotes {
  std::string progress;  // Lines about the rollout's progress.
  // Why the policy holds back nodes that could be updated otherwise; empty if it holds back none.
  std::string_view why_held_back;
  // The nodes of the present wave, sorted; empty if the wave has all nodes that are left.
  std::vector<std::string> members;
};

// Returns the text that `pintle rollout` prints without -o.
std::string RolloutTable(const pool::Situation& situation, const pool::Rollout& rollout, const PolicyNotes& notes = {});

}  // namespace pintle::ctl
