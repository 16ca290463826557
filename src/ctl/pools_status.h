// SPDX-License-Identifier: Apache-2.0
#pragma once

// `kubectl pintle status`: prints how far each pool of a cluster is, what is wrong, what waits behind a pause, and how
// far the rollout by a RolloutPolicy is.

#include <array>
#include <functional>
#include <map>
#include <span>
#include <string>

#include "api/machine_config_pool.h"
#include "ctl/answer.h"
#include "ctl/live_cluster.h"
#include "ctl/verbs.h"

namespace pintle::ctl {

inline constexpr std::array kPoolsStatusOptions = {
    kKubeconfigOption,
    kContextOption,
    kOutputOrNamesOption,
};

// Lines about the rollouts of pools; the key is the name of a pool.
using RolloutTexts = std::map<std::string, std::string, std::less<>>;

// Returns the status as a text for people.
std::string PoolsText(std::span<const api::MachineConfigPool* const> pools, const RolloutTexts& rollouts = {});

// Returns kDiffers if the state of one of the pools is not "updated", or if a pool has a condition that a person should
// know of.
ExitStatus PoolsExitStatus(std::span<const api::MachineConfigPool* const> pools);

// The operands name pools.  Without operands, the verb reports all pools.
Verb PoolsStatus;

}  // namespace pintle::ctl
