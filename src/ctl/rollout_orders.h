// SPDX-License-Identifier: Apache-2.0
#pragma once

// The verbs with which a person lets a rollout continue that its RolloutPolicy holds back.

#include <array>
#include <string>

#include "api/rollout_policy.h"
#include "base/result.h"
#include "ctl/command_line.h"
#include "ctl/live_cluster.h"
#include "ctl/verbs.h"

namespace pintle::ctl {

inline constexpr std::array kRolloutOrderOptions = {kKubeconfigOption, kContextOption};
inline constexpr std::array kRolloutOverrideOptions = {
    Option{"--reason", "TEXT", "why the windows and the freeze do not apply, such as CVE-2027-1234"},
    kKubeconfigOption,
    kContextOption,
};

// Returns the text of an order for the annotation of a pool.  Returns an error if the text is longer than the
// controller reads.
Result<std::string> TextOfOrder(const api::RolloutOrder& order);

// Lets the next wave of a pool's rollout begin.
Verb ApproveWave;
// Ends the halt of a pool's rollout: the failures so far no longer count.
Verb ResumeRollout;
// Lets the pool's present config be rolled out outside of windows, and during a freeze.
Verb OverrideWindows;

}  // namespace pintle::ctl
