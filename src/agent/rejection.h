// SPDX-License-Identifier: Apache-2.0
#pragma once

// The config with which the machine was not well, so that it is not tried again: not after a reboot either.

#include <optional>

#include "agent/state.h"
#include "base/result.h"
#include "base/root.h"

namespace pintle::agent {

inline constexpr const char* kRejection = "/var/lib/pintle/rejected.json";

Result<std::optional<Rejection>> ReadRejection(const Root& root);
Result<> KeepRejection(const Root& root, const std::optional<Rejection>& rejection);

}  // namespace pintle::agent
