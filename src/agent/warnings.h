// SPDX-License-Identifier: Apache-2.0
#pragma once

// What a person should know of, and that stops nothing: each is logged once, and shown for as long as it is so.

#include <array>
#include <string>
#include <vector>

namespace pintle::agent {

class Warnings {
 public:
  enum class Of { kSource, kDriftWatch };

  // All there are of a kind from now on; false if these are those that there were.
  bool Replace(Of kind, std::vector<std::string> texts);

  std::vector<std::string> All() const;

 private:
  std::array<std::vector<std::string>, 2> texts_;
};

}  // namespace pintle::agent
