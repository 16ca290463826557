// SPDX-License-Identifier: Apache-2.0
#include "ignition/read.h"

#include "base/ascii.h"

namespace pintle::ignition {
namespace {

// Removes the next letter and returns it in lower case.
char TakeFolded(std::string_view& text) {
  constexpr std::string_view kLongS = "\xc5\xbf";
  constexpr std::string_view kKelvin = "\xe2\x84\xaa";
  for (const auto& [letter, ascii] : {std::pair{kLongS, 's'}, std::pair{kKelvin, 'k'}}) {
    if (text.starts_with(letter)) {
      text.remove_prefix(letter.size());
      return ascii;
    }
  }
  const char first = text.front();
  text.remove_prefix(1);
  return LowerCaseOf(first);
}

}  // namespace

bool IsSameKeyInGo(std::string_view a, std::string_view b) {
  while (!a.empty() && !b.empty()) {
    if (TakeFolded(a) != TakeFolded(b)) return false;
  }
  return a.empty() && b.empty();
}

}  // namespace pintle::ignition
