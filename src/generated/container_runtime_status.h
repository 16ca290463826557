// SPDX-License-Identifier: Apache-2.0
#pragma once

// What the status of a ContainerRuntimeConfig says of how its configs were made.

#include <string>
#include <string_view>

#include "api/container_runtime_config.h"
#include "base/clock.h"
#include "base/result.h"

namespace pintle::generated {

// As a status says that something is wrong with the object itself.
std::string ProblemWith(const Error& error);

// The conditions are a history, of which the last three are kept.  A status that would say again what it says is left
// as it is, so that whoever writes it only when it differs does not write it for ever.  `problem` is empty if there is
// none.
api::ContainerRuntimeConfigStatus StatusAfter(const api::ContainerRuntimeConfig& config, std::string_view problem,
                                              WallTime now);

// Whether its configs were made from what it is now.
bool IsDone(const api::ContainerRuntimeConfig& config);

}  // namespace pintle::generated
