// SPDX-License-Identifier: Apache-2.0
#pragma once

// `kubectl pintle status`: how far each pool of a cluster is, what is wrong, and what waits behind a pause.

#include <array>
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
    kListOption,
};

// For people.
std::string PoolsText(std::span<const api::MachineConfigPool* const> pools);

// Whether one of them is not as it should be.
ExitStatus PoolsExit(std::span<const api::MachineConfigPool* const> pools);

// Words are names of pools; none: all.
Verb PoolsStatus;

}  // namespace pintle::ctl
