// SPDX-License-Identifier: Apache-2.0
#pragma once

// Finds the known word that a mistyped word probably stands for.

#include <span>
#include <string>
#include <string_view>

namespace pintle {

// Returns the known word that differs from `word` by the fewest letters.  At most three letters may differ, and at most
// a third of the letters of `word`.  If no known word is as near as that, returns the first one that begins with
// `word`, provided that `word` has at least two letters.  Returns "" if there is none either, or if `word` is longer
// than any word that a person types.  Dashes at the beginning do not count as letters.
std::string_view Nearest(std::string_view word, std::span<const std::string_view> known);

// Returns "; did you mean WORD?" for the end of a message, or "" if no known word is near.
std::string SuggestionFor(std::string_view word, std::span<const std::string_view> known);

}  // namespace pintle
