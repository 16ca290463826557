// SPDX-License-Identifier: Apache-2.0
#include "base/nearest.h"

#include <algorithm>
#include <cstddef>
#include <vector>

namespace pintle {
namespace {

constexpr std::size_t kLongestWord = 64;
// A word may have one mistake for every three letters, but no more than three.
constexpr std::size_t kLettersPerMistake = 3;
constexpr std::size_t kMostMistakes = 3;
constexpr std::size_t kShortestBeginning = 2;

std::string_view WithoutLeadingDashes(std::string_view word) {
  word.remove_prefix(std::min(word.find_first_not_of('-'), word.size()));
  return word;
}

// Counts the letters that have to be added, left out, replaced, or swapped with the next one to turn `a` into `b`.
std::size_t MistakesBetween(std::string_view a, std::string_view b) {
  std::vector<std::vector<std::size_t>> mistakes(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  for (std::size_t i = 0; i <= a.size(); ++i) {
    for (std::size_t j = 0; j <= b.size(); ++j) {
      std::size_t& fewest = mistakes[i][j];
      if (i == 0 || j == 0) {
        fewest = i + j;
        continue;
      }
      const std::size_t replaced = a[i - 1] == b[j - 1] ? 0 : 1;
      fewest = std::min({mistakes[i - 1][j] + 1, mistakes[i][j - 1] + 1, mistakes[i - 1][j - 1] + replaced});
      const bool is_swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (is_swapped) fewest = std::min(fewest, mistakes[i - 2][j - 2] + 1);
    }
  }
  return mistakes[a.size()][b.size()];
}

}  // namespace

std::string_view Nearest(std::string_view word, std::span<const std::string_view> known) {
  const std::string_view letters = WithoutLeadingDashes(word);
  if (letters.size() > kLongestWord) return "";
  std::string_view nearest;
  std::size_t fewest = std::min(letters.size() / kLettersPerMistake, kMostMistakes) + 1;
  for (const std::string_view candidate : known) {
    const std::size_t mistakes = MistakesBetween(letters, WithoutLeadingDashes(candidate));
    if (mistakes >= fewest) continue;
    fewest = mistakes;
    nearest = candidate;
  }
  if (!nearest.empty() || letters.size() < kShortestBeginning) return nearest;
  const auto longer = std::find_if(known.begin(), known.end(), [&](std::string_view candidate) {
    return WithoutLeadingDashes(candidate).starts_with(letters);
  });
  return longer == known.end() ? "" : *longer;
}

std::string SuggestionFor(std::string_view word, std::span<const std::string_view> known) {
  const std::string_view nearest = Nearest(word, known);
  if (nearest.empty()) return "";
  return "; did you mean " + std::string(nearest) + "?";
}

}  // namespace pintle
