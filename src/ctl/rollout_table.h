// SPDX-License-Identifier: Apache-2.0
#pragma once

// A rollout for people: each node with what it has, what happens to it next, and why not sooner.

#include <string>

#include "pool/rollout.h"

namespace pintle::ctl {

std::string RolloutTable(const pool::Situation& situation, const pool::Rollout& rollout);

}  // namespace pintle::ctl
