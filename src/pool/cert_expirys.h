// SPDX-License-Identifier: Apache-2.0
#pragma once

// What a pool's status says of certificates: when those end by which nodes know the API server's clients.

#include <vector>

#include "api/controller_config.h"
#include "api/machine_config_pool.h"

namespace pintle::pool {

// Those that the ControllerConfig tells of, in its order.
std::vector<api::CertExpiry> CertExpirysOf(const api::ControllerConfig& config);

}  // namespace pintle::pool
