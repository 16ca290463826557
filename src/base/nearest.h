// SPDX-License-Identifier: Apache-2.0
#pragma once

// Finds the known word that a mistyped word probably stands for.

#include <span>
#include <string>
#include <string_view>

namespace pintle {

// Returns the known word that differs from `word` by the fewest letters, if these are at most three and at most a third
// of the letters of `word`.  Otherwise returns the first known word that begins with `word`, if `word` has at least two
// letters.  Returns "" if there is no such known word, or if `word` is longer than any word that a person types.
// Dashes at the beginning do not count as letters.
std::string_view Nearest(std::string_view word, std::span<const std::string_view> known);

// Returns "; did you mean WORD?" for the end of a message, or "" if no known word is near.
std::string SuggestionFor(std::string_view word, std::span<const std::string_view> known);

}  // namespace pintle
