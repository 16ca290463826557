// SPDX-License-Identifier: Apache-2.0
#pragma once

// Makes the status of a ContainerRuntimeConfig, which reports whether its configs could be made.

#include <optional>
#include <string>
#include <string_view>

#include "api/container_runtime_config.h"
#include "base/clock.h"
#include "base/result.h"

namespace pintle::generated {

// Each of these functions returns the message of the condition after a step has failed.  In this order, the steps are:
// validating the object, choosing the name of its config, reading the templates that its files are based on, and
// writing the config.
std::string ProblemWith(const Error& error);
std::string ProblemOfName(const Error& error);
std::string ProblemOfTemplates(const Error& error);
std::string ProblemOfWriting(const Error& error);

// Returns the new status.  The conditions are a history, of which the last three are kept.  Returns nullopt if only the
// time would change, so that the status is not written again and again.  `problem` is empty on success.
std::optional<api::ContainerRuntimeConfigStatus> StatusAfter(const api::ContainerRuntimeConfig& config,
                                                             std::string_view problem, WallTime now);

}  // namespace pintle::generated
