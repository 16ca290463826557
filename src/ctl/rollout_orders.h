// SPDX-License-Identifier: Apache-2.0
#pragma once

// The verbs with which a person lets a rollout by a RolloutPolicy go on.

#include <array>

#include "ctl/command_line.h"
#include "ctl/live_cluster.h"
#include "ctl/verbs.h"

namespace pintle::ctl {

inline constexpr std::array kRolloutOrderOptions = {kKubeconfigOption, kContextOption};

// Lets the next wave of a pool's rollout begin.
Verb ApproveWave;
// Ends the halt of a pool's rollout: the failures so far no longer count.
Verb ResumeRollout;

}  // namespace pintle::ctl
