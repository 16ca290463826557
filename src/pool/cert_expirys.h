// SPDX-License-Identifier: Apache-2.0
#pragma once

// Collects expiry dates for a pool's status: those of the certificates with which kubelets verify their clients, such
// as the API server.

#include <vector>

#include "api/controller_config.h"
#include "api/machine_config_pool.h"

namespace pintle::pool {

// Returns the expiry dates in the order in which the ControllerConfig's status lists the certificates.
std::vector<api::CertExpiry> CertExpirysOf(const api::ControllerConfig& config);

}  // namespace pintle::pool
