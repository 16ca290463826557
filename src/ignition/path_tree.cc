// SPDX-License-Identifier: Apache-2.0
#include "ignition/path_tree.h"

#include <algorithm>

namespace pintle::ignition {
namespace {

// Removes the first part of a path and the slash behind it, and returns that part.
std::string_view TakePart(std::string_view& path) {
  const std::size_t end = std::min(path.find('/'), path.size());
  const std::string_view part = path.substr(0, end);
  path.remove_prefix(std::min(end + 1, path.size()));
  return part;
}

}  // namespace

void PathTree::Add(std::string_view path) {
  std::size_t node = 0;
  for (bool is_last = false; !is_last;) {
    is_last = path.find('/') == std::string_view::npos;
    const auto [child, is_new] = children_.emplace(std::pair{node, TakePart(path)}, counts_.size());
    if (is_new) counts_.push_back(0);
    node = child->second;
  }
  ++counts_[node];
}

template <typename Take>
void PathTree::VisitAbove(std::string_view path, Take&& take) const {
  const std::size_t size = path.size();
  std::size_t node = 0;
  while (path.find('/') != std::string_view::npos) {
    const auto child = children_.find({node, TakePart(path)});
    if (child == children_.end()) return;
    node = child->second;
    // The slash behind the part has been removed from the path, and does not count.
    if (counts_[node] > 0) take(size - path.size() - 1, counts_[node]);
  }
}

std::size_t PathTree::CountAbove(std::string_view path) const {
  std::size_t all = 0;
  VisitAbove(path, [&](std::size_t, std::size_t count) { all += count; });
  return all;
}

std::string_view PathTree::NearestAbove(std::string_view path) const {
  std::size_t longest = 0;
  VisitAbove(path, [&](std::size_t length, std::size_t) { longest = length; });
  return path.substr(0, longest);
}

}  // namespace pintle::ignition
