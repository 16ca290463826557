// SPDX-License-Identifier: Apache-2.0
#pragma once

// A set of paths, in which the paths above a given path can be found.
//
// Each part of the given path is looked up once, so the time grows only with the length of that path.

#include <cstddef>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

namespace pintle::ignition {

// The set refers to the texts that were added, and does not own them.  Parts are compared as they are written.
class PathTree {
 public:
  void Add(std::string_view path);

  // Returns how many of the added paths are above `path`; a path that was added twice counts twice.
  std::size_t CountAbove(std::string_view path) const;

  // Returns the longest of the added paths that are above `path`, as a part of `path`; "" if there is none.
  std::string_view NearestAbove(std::string_view path) const;

 private:
  // Calls `take` for each added path above `path`, from the shortest on, with its length and its count.
  template <typename Take>
  void VisitAbove(std::string_view path, Take&& take) const;

  // Maps a node and the next part to the child.
  std::map<std::pair<std::size_t, std::string_view>, std::size_t> children_;
  std::vector<std::size_t> counts_ = {0};  // The number of paths that end at each node; the first is the root.
};

}  // namespace pintle::ignition
