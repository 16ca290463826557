// SPDX-License-Identifier: Apache-2.0
#pragma once

// The labels of the built-in pools: master, worker and arbiter.
//
// KubeletConfigs select such a pool by the label with its name, and an upgrade of the cluster waits for the pools that
// have kRequiredForUpgradeLabel.  Everything else in these pools belongs to the administrator.

#include <string_view>

#include "api/machine_config_pool.h"
#include "api/meta.h"

namespace pintle::clusterops {

// The label of pools that an upgrade of the cluster waits for.
inline constexpr std::string_view kRequiredForUpgradeLabel =
    "operator.machineconfiguration.openshift.io/required-for-upgrade";

// Returns the labels of the built-in pool with this name, or none if there is no such built-in pool.
api::Labels BuiltInLabels(std::string_view pool);

// Returns the built-in labels, with their right values, that a pool lacks or has with another value.
api::Labels MissingLabels(const api::MachineConfigPool& pool);

// Returns whether an upgrade of the cluster waits for a pool.
bool IsRequiredForUpgrade(const api::MachineConfigPool& pool);

}  // namespace pintle::clusterops
