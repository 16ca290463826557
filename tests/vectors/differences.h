// SPDX-License-Identifier: Apache-2.0
#pragma once

// Describes the differences of two documents in messages.

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string>

#include "json/parse.h"

namespace pintle::vectors {

inline std::string Shown(const json::Value* value) { return value == nullptr ? "nothing" : json::ToText(*value); }

// Returns a line for each difference, such as "/status/machineCount: 1 became 2".  Each line begins with a newline and
// two spaces.  The expected value comes first.
inline std::string Differences(const json::Value* expected, const json::Value* got, const std::string& place = "") {
  std::string lines;
  if (expected != nullptr && got != nullptr) {
    if (*expected == *got) return "";
    if (expected->is_object() && got->is_object()) {
      std::set<std::string> keys;
      for (const json::Value* value : {expected, got}) {
        for (const auto& [key, member] : value->members()) keys.insert(key);
      }
      for (const std::string& key : keys) lines += Differences(expected->Find(key), got->Find(key), place + "/" + key);
      return lines;
    }
    if (expected->is_array() && got->is_array()) {
      for (std::size_t i = 0; i < std::max(expected->size(), got->size()); ++i) {
        lines += Differences(i < expected->size() ? &(*expected)[i] : nullptr, i < got->size() ? &(*got)[i] : nullptr,
                             fmt::format("{}/{}", place, i));
      }
      return lines;
    }
  }
  return fmt::format("\n  {}: {} became {}", place, Shown(expected), Shown(got));
}

}  // namespace pintle::vectors
