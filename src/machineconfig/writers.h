// SPDX-License-Identifier: Apache-2.0
#pragma once

// Which of the configs that were merged says what: a path, a unit or a user, and the names of those that speak of it.
//
// The merged config does not tell; whoever wonders where a file comes from wants to know it all the same.

#include <map>
#include <span>
#include <string>
#include <vector>

#include "ignition/config.h"

namespace pintle::machineconfig {

// Paths of files, names of units, paths of their files and drop-ins, names of users.  Of several names the last has the
// last word, where only one can have it.
using Writers = std::map<std::string, std::vector<std::string>>;

struct Source {
  std::string name;
  ignition::Config ignition;
};

// `sources` are in the order of merging.
Writers WritersOf(std::span<const Source> sources);

}  // namespace pintle::machineconfig
