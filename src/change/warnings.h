// SPDX-License-Identifier: Apache-2.0
#pragma once

// Makes warnings: facts about a change that people should know, although the change can be made.

#include <string>
#include <vector>

#include "base/root.h"
#include "ignition/config.h"
#include "plan/plan.h"

namespace pintle::change {

// Returns whether a config refers to other configs that have to be fetched.  Ignition fetches them at the first boot of
// a machine; nothing fetches them on a running machine.
bool RefersToOtherConfigs(const ignition::Config& config);
inline constexpr const char* kOtherConfigsAreNotFetched =
    "nothing fetches other configs on a running machine, since Ignition fetches them only at the first boot; copy "
    "their contents into this one";

// Returns one text for each warning.
std::vector<std::string> WarningsOf(const Root& root, const plan::ParsedConfig& from, const plan::ParsedConfig& to);

}  // namespace pintle::change
