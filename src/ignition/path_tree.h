// SPDX-License-Identifier: Apache-2.0
#pragma once

// Paths, to be asked which of them another one goes through.
//
// Each part of a path is looked up once, so that a path of a million parts costs no more than its length.

#include <cstddef>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

namespace pintle::ignition {

// Looks into the texts that were added, and does not own them.  Parts are compared as they are written.
class PathTree {
 public:
  void Add(std::string_view path);

  // How many of the paths added, each as often as it was, lie above `path`.
  std::size_t CountAbove(std::string_view path) const;

 private:
  std::map<std::pair<std::size_t, std::string_view>, std::size_t> children_;  // Of a node, by the next part.
  std::vector<std::size_t> counts_ = {0};  // Of each node, the paths that end there; the first is the root.
};

}  // namespace pintle::ignition
