// SPDX-License-Identifier: Apache-2.0
#pragma once

// Extensions and kernels that a machine should have and has not.

#include "base/result.h"
#include "host/host.h"
#include "plan/extensions.h"
#include "resource/deployment.h"

namespace pintle::change {

// Of the machine that runs.  Where packages cannot be layered, nothing is known of them, and nothing is missing.
Result<plan::MissingParts> FindMissingParts(const host::Host& host, const host::DeployedImage& booted,
                                            const resource::Deployment::State& want);

}  // namespace pintle::change
