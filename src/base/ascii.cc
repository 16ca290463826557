// SPDX-License-Identifier: Apache-2.0
#include "base/ascii.h"

#include <algorithm>

namespace pintle {

std::string InLowerCase(std::string_view text) {
  std::string lower(text);
  std::transform(lower.begin(), lower.end(), lower.begin(), LowerCaseOf);
  return lower;
}

bool SameIgnoringCase(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](char left, char right) { return LowerCaseOf(left) == LowerCaseOf(right); });
}

}  // namespace pintle
