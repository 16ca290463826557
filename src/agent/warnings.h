// SPDX-License-Identifier: Apache-2.0
#pragma once

// What a person should know of, and that stops nothing: each is logged once, and shown for as long as it is so.

#include <array>
#include <string>
#include <vector>

#include "change/ignored.h"

namespace pintle::agent {

class Warnings {
 public:
  enum class Of { kSource, kDriftWatch, kIgnored };

  // All there are of a kind from now on; false if these are those that there were.
  bool Replace(Of kind, std::vector<std::string> texts);

  std::vector<std::string> All() const;

 private:
  std::array<std::vector<std::string>, 3> texts_;
};

// One for each thing that is ignored.
std::vector<std::string> WarningsOf(const change::Ignored& ignored);

}  // namespace pintle::agent
