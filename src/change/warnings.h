// SPDX-License-Identifier: Apache-2.0
#pragma once

// Warnings about a change that do not stand in its way.

#include <string>
#include <vector>

#include "base/root.h"
#include "ignition/config.h"
#include "plan/plan.h"

namespace pintle::change {

// Returns whether a config refers to others that have to be fetched.  Ignition does that at the first boot of a
// machine; nothing does that on a running machine.
bool LeadsToOthers(const ignition::Config& config);
inline constexpr const char* kLeadsToOthers =
    "nothing fetches other configs on a running machine, as Ignition does at its first boot; copy their contents "
    "into this one";

std::vector<std::string> WarningsOf(const Root& root, const plan::ParsedConfig& from, const plan::ParsedConfig& to);

}  // namespace pintle::change
