// SPDX-License-Identifier: Apache-2.0
#pragma once

// Finds extensions and kernels that a machine should have and lacks.

#include "base/result.h"
#include "host/host.h"
#include "plan/extensions.h"
#include "resource/deployment.h"

namespace pintle::change {

// Compares what the machine should have with the booted deployment and with the package database of the running
// machine.  On a machine that cannot layer packages, nothing counts as missing.
Result<plan::MissingParts> FindMissingParts(const host::Host& host, const host::DeployedImage& booted,
                                            const resource::Deployment::State& want);

}  // namespace pintle::change
