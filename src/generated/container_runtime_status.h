// SPDX-License-Identifier: Apache-2.0
#pragma once

// What the status of a ContainerRuntimeConfig says of how its configs were made.

#include <optional>
#include <string>
#include <string_view>

#include "api/container_runtime_config.h"
#include "base/clock.h"
#include "base/result.h"

namespace pintle::generated {

// What a status says of what went wrong: with the object itself, with the choice of a config's name, with the templates
// that it is laid over, with writing the config, and with noting its name in the object.
std::string ProblemWith(const Error& error);
std::string ProblemOfName(const Error& error);
std::string ProblemOfTemplates(const Error& error);
std::string ProblemOfWriting(const Error& error);
std::string ProblemOfFinalizer(const Error& error);

// The conditions are a history, of which the last three are kept.  Nothing if the status says so already, but for the
// time: it would be written for ever.  `problem` is empty if there is none.
std::optional<api::ContainerRuntimeConfigStatus> StatusAfter(const api::ContainerRuntimeConfig& config,
                                                             std::string_view problem, WallTime now);

// Whether its configs were made from what it is now.
bool IsDone(const api::ContainerRuntimeConfig& config);

}  // namespace pintle::generated
