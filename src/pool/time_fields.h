// SPDX-License-Identifier: Apache-2.0
#pragma once

// The fields of a RolloutPolicy that hold a time span, such as "1h 30min".
//
// An empty text is a field that is not set, and leads to nullopt.  So does a text that cannot be used; then a problem,
// with the field and the remedy, is appended to `problems`.

#include <chrono>
#include <optional>
#include <string>
#include <vector>

namespace pintle::pool {

// Returns the time span in the field.
std::optional<std::chrono::seconds> SpanOf(const std::string& text, const std::string& field,
                                           std::vector<std::string>& problems);

// Like SpanOf(), but also refuses 0: a limit of 0 would halt each rollout at once, but its author probably wants no
// limit.
std::optional<std::chrono::seconds> LimitOf(const std::string& text, const std::string& field,
                                            std::vector<std::string>& problems);

}  // namespace pintle::pool
