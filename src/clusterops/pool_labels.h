// SPDX-License-Identifier: Apache-2.0
#pragma once

// The labels of the pools that every cluster has.
//
// Others select these pools by their labels: KubeletConfigs by the name of the pool, and an upgrade of the cluster by
// the label of the pools that it waits for.  The rest of such a pool belongs to the administrator.

#include <string_view>

#include "api/machine_config_pool.h"
#include "api/meta.h"

namespace pintle::clusterops {

// The label of pools that an upgrade of the cluster waits for.
inline constexpr std::string_view kRequiredForUpgradeLabel =
    "operator.machineconfiguration.openshift.io/required-for-upgrade";

// Returns the labels of a pool with this name; none if it is not a pool that every cluster has.
api::Labels BuiltInLabels(std::string_view pool);

// Returns those of these labels that a pool lacks, or has with another value.
api::Labels MissingLabels(const api::MachineConfigPool& pool);

// Returns whether an upgrade of the cluster waits for a pool.
bool IsRequiredForUpgrade(const api::MachineConfigPool& pool);

}  // namespace pintle::clusterops
