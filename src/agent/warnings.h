// SPDX-License-Identifier: Apache-2.0
#pragma once

// Warnings for a person, which do not stop any work.  Each is logged once, and published for as long as it holds.

#include <array>
#include <string>
#include <vector>

#include "change/ignored.h"

namespace pintle::agent {

class Warnings {
 public:
  enum class Origin { kSource, kDriftWatch, kIgnored, kStaging };

  // Replaces all warnings of one origin; returns false if they are the same as before.
  bool Replace(Origin origin, std::vector<std::string> texts);

  // Returns the warnings of all origins.
  std::vector<std::string> All() const;

 private:
  std::array<std::vector<std::string>, 4> texts_;
};

// Returns a warning for each thing that is ignored.
std::vector<std::string> WarningsOf(const change::Ignored& ignored);

}  // namespace pintle::agent
