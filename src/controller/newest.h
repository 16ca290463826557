// SPDX-License-Identifier: Apache-2.0
#pragma once

// Objects as the API server last answered, for as long as a mirror does not show them so.
//
// A mirror may be late by seconds.  Who decided by it alone would not see what was written a moment ago, and write once
// more, or tell one more node.

#include <map>
#include <optional>
#include <string>
#include <utility>

#include "kube/resource_version.h"

namespace pintle::controller {

using kube::IsLater;

template <typename T>
class Newest {
 public:
  void Put(T answered) {
    std::string name = answered.metadata.name;
    answered_.insert_or_assign(std::move(name), std::move(answered));
  }

  const T& Of(const T& mirrored) const {
    const auto found = answered_.find(mirrored.metadata.name);
    return found == answered_.end() ? mirrored : found->second;
  }

  // The mirror shows this now.
  void Mirrored(const T& now) {
    const auto found = answered_.find(now.metadata.name);
    if (found == answered_.end()) return;
    if (!IsLater(found->second.metadata.resource_version, now.metadata.resource_version)) answered_.erase(found);
  }

  void Gone(const std::string& name) { answered_.erase(name); }
  void Clear() { answered_.clear(); }

 private:
  std::map<std::string, T> answered_;
};

}  // namespace pintle::controller
