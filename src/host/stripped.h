// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace pintle::host {

// The white space of unit files, presets and OSTree's origins.
inline constexpr std::string_view kSpace = " \t\n\r";

// Returns a text without the white space around it.
constexpr std::string_view Stripped(std::string_view text) {
  const std::size_t first = text.find_first_not_of(kSpace);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kSpace) - first + 1);
}

}  // namespace pintle::host
