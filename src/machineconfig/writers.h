// SPDX-License-Identifier: Apache-2.0
#pragma once

// Records which of the merged configs wrote a path, a unit or a user.
//
// People need this information to find out where a file comes from, and the merged config does not have it.

#include <map>
#include <span>
#include <string>
#include <vector>

#include "ignition/config.h"

namespace pintle::machineconfig {

// Maps paths of files, names of units, paths of their files and drop-ins, and names of users to the names of the
// configs that have them, in the order of merging.  If only one of these configs can have an effect, it is the last
// one.
using Writers = std::map<std::string, std::vector<std::string>>;

struct NamedConfig {
  std::string name;
  ignition::Config ignition;
};

// `configs` are in the order of merging.
Writers WritersOf(std::span<const NamedConfig> configs);

}  // namespace pintle::machineconfig
