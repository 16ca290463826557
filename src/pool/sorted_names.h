// SPDX-License-Identifier: Apache-2.0
#pragma once

// Sets of names that are sorted lists, as the status of a RolloutPolicy has them.

#include <algorithm>
#include <string>
#include <vector>

namespace pintle::pool {

inline bool Has(const std::vector<std::string>& sorted, const std::string& name) {
  return std::binary_search(sorted.begin(), sorted.end(), name);
}

inline void AddTo(std::vector<std::string>& sorted, const std::string& name) {
  const auto at = std::lower_bound(sorted.begin(), sorted.end(), name);
  if (at == sorted.end() || *at != name) sorted.insert(at, name);
}

inline void RemoveFrom(std::vector<std::string>& sorted, const std::string& name) {
  const auto at = std::lower_bound(sorted.begin(), sorted.end(), name);
  if (at != sorted.end() && *at == name) sorted.erase(at);
}

}  // namespace pintle::pool
