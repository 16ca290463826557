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

// These functions return the message of the condition for a failure.  In this order, the failures are: to validate the
// object, to choose the name of its config, to read the templates that its files are based on, to write the config, and
// to add the config's name to the object's finalizers.
std::string ProblemWith(const Error& error);
std::string ProblemOfName(const Error& error);
std::string ProblemOfTemplates(const Error& error);
std::string ProblemOfWriting(const Error& error);
std::string ProblemOfFinalizer(const Error& error);

// Returns the new status.  The conditions are a history, of which the last three are kept.  Returns nullopt if only the
// time would change, so that the status is not written again and again.  `problem` is empty on success.
std::optional<api::ContainerRuntimeConfigStatus> StatusAfter(const api::ContainerRuntimeConfig& config,
                                                             std::string_view problem, WallTime now);

// Returns whether the configs were made from the current generation of the object.
bool IsDone(const api::ContainerRuntimeConfig& config);

}  // namespace pintle::generated
