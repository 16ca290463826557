// SPDX-License-Identifier: Apache-2.0
#pragma once

// Objects as the API server last answered, for as long as a mirror does not show them so.
//
// A mirror may be late by seconds.  Who decided by it alone would not see what was written a moment ago, and write once
// more, or tell one more node.

#include <charconv>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>

namespace pintle::controller {

// Whether a version is later than another of the same kind.  The store counts them up; what is no number says nothing.
inline bool IsLater(const std::string& version, const std::string& than) {
  const auto number = [](const std::string& text) {
    std::uint64_t value = 0;
    std::from_chars(text.data(), text.data() + text.size(), value);
    return value;
  };
  return number(version) > number(than);
}

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
