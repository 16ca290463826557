// SPDX-License-Identifier: Apache-2.0
#pragma once

// Decodes the characters of a UTF-8 text, and classifies characters as Go's yaml.v2 does.  The text must be valid.

#include <cstddef>
#include <string_view>

namespace pintle::machineconfig {

inline constexpr char32_t kNextLine = 0x85;
inline constexpr char32_t kByteOrderMark = 0xFEFF;

struct Character {
  char32_t code = 0;
  std::size_t size = 1;  // In bytes.
};

inline Character CharacterAt(std::string_view text, std::size_t at) {
  const auto byte = [&](std::size_t i) -> char32_t {
    return at + i < text.size() ? static_cast<unsigned char>(text[at + i]) : 0;
  };
  const char32_t first = byte(0);
  if (first < 0xC0) return {first, 1};
  if (first < 0xE0) return {((first & 0x1F) << 6) | (byte(1) & 0x3F), 2};
  if (first < 0xF0) return {((first & 0x0F) << 12) | ((byte(1) & 0x3F) << 6) | (byte(2) & 0x3F), 3};
  return {((first & 0x07) << 18) | ((byte(1) & 0x3F) << 12) | ((byte(2) & 0x3F) << 6) | (byte(3) & 0x3F), 4};
}

constexpr bool IsBreak(char32_t c) { return c == '\n' || c == '\r' || c == kNextLine || c == 0x2028 || c == 0x2029; }
constexpr bool IsBlank(char32_t c) { return c == ' ' || c == '\t'; }

// Go's writer does not escape these characters.
constexpr bool IsPrintable(char32_t c) {
  return c == '\n' || (c >= 0x20 && c <= 0x7E) || (c >= 0xA0 && c <= 0xD7FF) ||
         (c >= 0xE000 && c <= 0xFFFD && c != kByteOrderMark);
}

// yaml.v2's reader refuses these characters.  It also refuses most characters below U+0020, but never meets one: the
// operator makes YAML from JSON by reading the JSON as YAML, and in JSON these characters are escaped.
constexpr bool IsForbidden(char32_t c) {
  return (c >= 0x7F && c <= 0x9F && c != kNextLine) || c == 0xFFFE || c == 0xFFFF;
}

}  // namespace pintle::machineconfig
